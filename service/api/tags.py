"""Strong entity tags: a client that has an answer asks whether it is still the same, and gets 304 when it is."""

import hashlib
import re
from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import Header
from pydantic import BaseModel
from starlette.responses import Response

from service.usecases.errors import PreconditionFailed

IF_NONE_MATCH = Header(
    alias="If-None-Match", max_length=10_000, description="Tags that the caller has; 304 when one is current."
)

ETAG = {"ETag": {"description": "Tag of this answer, for If-None-Match and If-Match.", "schema": {"type": "string"}}}
IF_MATCH = Header(
    alias="If-Match",
    max_length=10_000,
    description="Tag of the answer that the caller has changed; 412 when it is no longer current.",
    examples=['"6d1e6a63c0a5d6f7c4b1cf5e7b8a4bb4"'],
)
IF_NEW = Header(
    alias="If-None-Match", max_length=10_000, description="`*`: only what is not there yet; else 412.", examples=["*"]
)

CONDITIONAL: dict[int | str, dict[str, Any]] = {
    200: {"headers": ETAG},
    304: {"description": "The caller has this answer", "headers": ETAG},
}
"""What a route documents that answers `If-None-Match`."""

T = TypeVar("T")

_WEAK = re.compile(r'W/"[^"]*"')
_TAG = re.compile(r'(?:W/)?("[^"]*")')


def tagged(answer: BaseModel, if_none_match: str) -> Response:
    """Return the answer with its tag, or 304 without a body when the caller has it (RFC 9110, section 13.1.2)."""
    body = _body(answer)
    tag = _tag(body)
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if _names(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


def written(answer: BaseModel, status: int = 200, location: str | None = None) -> Response:
    """Return the answer to a request that has changed something, with its new tag."""
    body = _body(answer)
    headers = {"ETag": _tag(body), **({} if location is None else {"Location": location})}
    return Response(body, status, headers, "application/json")


def precondition(
    answer_of: Callable[[T], BaseModel], if_match: str, if_none_match: str = ""
) -> Callable[[T | None], None]:
    """Return what raises PreconditionFailed where the current answer is not the one that the headers name.

    `If-Match` demands one of its tags, or with `*` that there is something; `If-None-Match` demands none of its tags,
    or with `*` that there is nothing yet (RFC 9110, sections 13.1.1 and 13.1.2).
    """

    def demand(current: T | None) -> None:
        tag = None if current is None else _tag(_body(answer_of(current)))
        # Weak tags are never equal in this comparison.
        if if_match and not _names(_WEAK.sub("", if_match), tag):
            now = "there is nothing" if tag is None else f"the current tag is {tag}"
            raise PreconditionFailed(f"If-Match: {now}")
        if if_none_match and _names(if_none_match, tag):
            raise PreconditionFailed(f"If-None-Match: the current tag is {tag}")

    return demand


def _names(header: str, tag: str | None) -> bool:
    return tag is not None and (header.strip() == "*" or tag in _TAG.findall(header))


def _body(answer: BaseModel) -> bytes:
    return answer.model_dump_json(by_alias=True).encode()


def _tag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'
