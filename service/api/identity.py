"""Who asked: every request has an id, taken from the caller or made here, that is in its answer and in the log."""

import re
import secrets
import time
from collections.abc import Mapping

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service import metrics
from service.api.catalogue import INTERNAL_ERROR
from service.api.problems import problem_response
from service.logs import logger

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
# https://www.w3.org/TR/trace-context/#traceparent-header
_TRACEPARENT = re.compile(
    # Version 00 ends with the flags, later ones may go on, and there is no version ff.
    r"(?:00(?=.{53}$)|(?!00|ff)[0-9a-f]{2})-(?!0{32})(?P<trace>[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?"
)

_NOUNS = {"pln": "plan", "cmp": "comparison", "op": "operation", "obs": "observation"}
_IDS = re.compile(rf"\b({'|'.join(_NOUNS)})_[0-9a-f]{{32}}\b")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_log = logger(__name__)


class RequestIdentity:
    """Gives each request its id, logs it in one line, and answers 500 when nothing else answered.

    The outermost of our own layers, so that no answer leaves without an id: `X-Request-Id` and `traceparent` are
    taken from the caller when they are well-formed, and sent back.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        echoed = _echoed(Headers(scope=scope))
        began = time.perf_counter()
        scope.setdefault("state", {}).update(request_id=echoed["x-request-id"], began=began)
        status, made = 0, _named(scope["path"])

        async def send_with_identity(message: Message) -> None:
            nonlocal status, made
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(echoed | scope["state"].get("headers", {}))
                made = made | _named(headers.get("location", ""))
            await send(message)

        with structlog.contextvars.bound_contextvars(**_logged(echoed)):
            try:
                await self._app(scope, receive, send_with_identity)
            except Exception:
                _log.exception("request failed", method=scope["method"], path=scope["path"])
                if status:
                    raise
                await _internal_error(scope, receive, send_with_identity)
            seconds = time.perf_counter() - began
            metrics.count_request(_method(scope), _route(scope), status, seconds)
            about = {"method": scope["method"], "path": scope["path"], "status": status, **made, **_asker(scope)}
            _log.info("request", **about, milliseconds=round(seconds * 1000, 3))


def _echoed(headers: Headers) -> dict[str, str]:
    given = headers.get("x-request-id", "")
    echoed = {"x-request-id": given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(16)}
    trace = headers.get("traceparent", "")
    if _TRACEPARENT.fullmatch(trace):
        echoed["traceparent"] = trace
    return echoed


def _logged(echoed: dict[str, str]) -> dict[str, str]:
    logged = {"request_id": echoed["x-request-id"]}
    trace = _TRACEPARENT.fullmatch(echoed.get("traceparent", ""))
    if trace is not None:
        logged["trace_id"] = trace["trace"]
    return logged


def _named(path: str) -> dict[str, str]:
    """The stored things that a path names, by their noun: `{"plan": "pln_…"}`."""
    return {_NOUNS[found[1]]: found[0] for found in _IDS.finditer(path)}


def _asker(scope: Scope) -> dict[str, str]:
    caller = scope["state"].get("caller")
    return {} if caller is None or caller.token_id is None else {"token": caller.token_id}


def _method(scope: Scope) -> str:
    # What callers make up must not make a series each.
    method: str = scope["method"]
    return method if method in _METHODS else "_OTHER"


def _route(scope: Scope) -> str:
    templates: Mapping[object, str] = scope["app"].state.templates
    return templates.get(scope.get("endpoint"), "")


async def _internal_error(scope: Scope, receive: Receive, send: Send) -> None:
    detail = "An error that this service did not foresee; its log has it under the request id."
    response = problem_response(Request(scope), INTERNAL_ERROR, detail)
    await response(scope, receive, send)
