"""Strong entity tags: a client that has an answer asks whether it is still the same, and gets 304 when it is."""

import hashlib
import re

from fastapi import Header
from pydantic import BaseModel
from starlette.responses import Response

IF_NONE_MATCH = Header(
    alias="If-None-Match", max_length=10_000, description="Tags that the caller has; 304 when one is current."
)

_TAG = re.compile(r'(?:W/)?("[^"]*")')


def tagged(answer: BaseModel, if_none_match: str) -> Response:
    """Return the answer with its tag, or 304 without a body when the caller has it (RFC 9110, section 13.1.2)."""
    body = answer.model_dump_json(by_alias=True).encode()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if if_none_match.strip() == "*" or tag in _TAG.findall(if_none_match):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")
