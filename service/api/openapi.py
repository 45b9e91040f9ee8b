"""The OpenAPI document: what FastAPI writes, with every error as a problem and nothing that does not happen."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from service.api.catalogue import (
    AUTHENTICATION_REQUIRED,
    BODY_TOO_LARGE,
    IDEMPOTENCY_KEY_IN_USE,
    IDEMPOTENCY_KEY_REUSED,
    INSUFFICIENT_SCOPE,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    INVALID_TOKEN,
    JSON_TOO_DEEP,
    KINDS,
    MALFORMED_JSON,
    RATE_LIMITED,
    STORE_BUSY,
    STORE_UNAVAILABLE,
    TOO_MANY_AT_ONCE,
    UNSUPPORTED_MEDIA_TYPE,
    Kind,
)
from service.api.problems import MEDIA_TYPE
from service.api.samples import SAMPLES
from service.api.schemas.problem import Problem

_SCHEMAS = "#/components/schemas/"

Documented = dict[int | str, dict[str, Any]]
"""What `responses=` takes: answers by status."""

DESCRIPTION = """\
memplan plans GPU memory for distributed training of large language models. A training config goes in: a launch
script, a config file, or memplan's own job schema. Out comes, for each pipeline stage, how many bytes one GPU holds at
its worst moment and which tensors they are; whether that fits a given GPU; and the layouts that would fit, ranked by
step time.

Sizes are integers in bytes in fields that end in `_bytes`. A job that does not fit is an answer, not an error. Every
error is `application/problem+json` (RFC 9457); [the catalogue](docs/errors) explains each code. Nothing that is
uploaded is executed, and files that it names are not read.
"""

TAGS = [
    {"name": "estimate", "description": "How much memory a job takes, tensor by tensor, and whether it fits."},
    {"name": "verdict", "description": "Whether jobs fit targets, in few words and within the caller's time."},
    {"name": "import", "description": "What memplan understands of a config."},
    {"name": "plan", "description": "Which layouts of a model fit a cluster, fastest first; stored under a link."},
    {"name": "comparison", "description": "Plans and jobs on targets, side by side; stored under a link."},
    {"name": "observation", "description": "What runs measured, and how far predictions were from it."},
    {"name": "operation", "description": "Work that takes longer than its request: how far it is, and its end."},
    {"name": "catalogue", "description": "The devices and models known by name."},
    {"name": "policy", "description": "What the jobs of a queue may do, and what would have been refused."},
    {"name": "service", "description": "Whether the service is alive and ready."},
]


BODY_PROBLEMS = (MALFORMED_JSON, JSON_TOO_DEEP, BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST)
"""What a route that takes a body can answer before anything else."""


RETRY_AFTER: dict[str, Any] = {
    "Retry-After": {
        "description": "Seconds to wait before asking again; absent when there is nothing to wait for.",
        "schema": {"type": "integer"},
    }
}


KEY_PROBLEMS = (IDEMPOTENCY_KEY_IN_USE, IDEMPOTENCY_KEY_REUSED)
"""What a route that takes an idempotency key can answer because of it."""


_REFUSALS = (
    AUTHENTICATION_REQUIRED,
    INVALID_TOKEN,
    INSUFFICIENT_SCOPE,
    RATE_LIMITED,
    TOO_MANY_AT_ONCE,
    STORE_BUSY,
    STORE_UNAVAILABLE,
)
"""What every route answers to those whom it does not let in, or cannot tell whether to."""

_CHALLENGE = {
    "WWW-Authenticate": {"description": "What would let the caller in (RFC 6750).", "schema": {"type": "string"}}
}
_REFUSAL_HEADERS: Mapping[str, dict[str, Any]] = {
    "401": _CHALLENGE,
    "403": _CHALLENGE,
    "429": {
        "RateLimit-Policy": {"description": "How often the caller may ask.", "schema": {"type": "string"}},
        "RateLimit": {"description": "What is left, and in how many seconds more.", "schema": {"type": "string"}},
    },
}


def operation_id(route: APIRoute) -> str:
    """Return the route's operationId: the name of its function, which generated clients call."""
    return route.name


def problems(*kinds: Kind) -> Documented:
    """Return what `responses=` documents for a route that can answer these kinds of problems, as any can answer 500."""
    by_status: dict[int, list[Kind]] = {}
    for kind in (*kinds, INTERNAL_ERROR):
        by_status.setdefault(int(kind.status), []).append(kind)
    documented: Documented = {status: _answer(by_status[status]) for status in sorted(by_status)}
    return {**documented, "default": {**_answer([]), "description": "Any other problem"}}


def _answer(kinds: list[Kind]) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": {"$ref": f"{_SCHEMAS}Problem"}}}
    return {"description": "; ".join(map(_said, kinds)), "content": content}


def _said(kind: Kind) -> str:
    return f"{kind.title} (`{kind.code}`)"


def write_document(app: FastAPI, *, needs_tokens: bool) -> dict[str, Any]:
    """Return the document of the application's routes; where no token is needed, it says that each may go without."""
    document: dict[str, Any] = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version=app.openapi_version,
        summary=app.summary,
        description=app.description,
        license_info=app.license_info,
        routes=app.routes,
        tags=app.openapi_tags,
        servers=app.servers,
        separate_input_output_schemas=app.separate_input_output_schemas,
    )
    schemas = document["components"]["schemas"]
    # These two are added for the status 422 of routes that do not document it; all of ours do.
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    problem = Problem.model_json_schema(ref_template=_SCHEMAS + "{model}")
    schemas.update({**problem.pop("$defs"), "Problem": problem})
    # Clients are generated with a class for each code.
    document["x-problems"] = [{"code": each.code, "status": int(each.status), "title": each.title} for each in KINDS]
    for operations in document["paths"].values():
        for operation in operations.values():
            if "security" in operation:
                _guard(operation, needs_tokens=needs_tokens)
            else:
                operation["security"] = []
            _describe_streams(operation["responses"])
            if sample := SAMPLES.get(operation["operationId"]):
                operation["x-codeSamples"] = [{"lang": "Shell", "label": "curl", "source": sample}]
            _add_headers(operation["responses"])
    return document


def _describe_streams(responses: Mapping[str, dict[str, Any]]) -> None:
    """Say nothing of what is in streams: `itemSchema`, which FastAPI writes, is a word of OpenAPI 3.2.

    Some readers hold the schema against the text of a stream, others against each of its events.
    """
    for response in responses.values():
        for media in response.get("content", {}).values():
            if media.pop("itemSchema", None) is not None:
                media["schema"] = {}


def _guard(operation: dict[str, Any], *, needs_tokens: bool) -> None:
    """Document what every route answers to those whom it does not let in."""
    if not needs_tokens:
        operation["security"].append({})
    answers = operation["responses"]
    for kind in _REFUSALS:
        answer = answers.setdefault(str(int(kind.status)), _answer([]))
        if f"(`{kind.code}`)" not in answer["description"]:
            answer["description"] = "; ".join(filter(None, [answer["description"], _said(kind)]))
    for status, headers in _REFUSAL_HEADERS.items():
        answers[status].setdefault("headers", {}).update(deepcopy(headers))
    operation["responses"] = {status: answers[status] for status in sorted(answers)}


def _add_headers(responses: Mapping[str, dict[str, Any]]) -> None:
    for status, response in responses.items():
        headers = response.setdefault("headers", {})
        headers["X-Request-Id"] = {
            "description": "Id of the request: the caller's, or made by the service.",
            "schema": {"type": "string"},
        }
        if status in {"429", "503"} or IDEMPOTENCY_KEY_IN_USE.code in response["description"]:
            headers["Retry-After"] = {
                "description": "Seconds to wait before the same request is sent again.",
                "schema": {"type": "integer"},
            }
