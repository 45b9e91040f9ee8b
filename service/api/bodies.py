"""Request bodies: JSON in UTF-8, of bounded size and depth, read the same way for every route that takes one."""

from collections.abc import Callable, Coroutine
from email.message import Message
from functools import lru_cache
from typing import Any

from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response

from service.api.access import GuardedRoute
from service.api.catalogue import BODY_TOO_LARGE, JSON_TOO_DEEP, MALFORMED_JSON, UNSUPPORTED_MEDIA_TYPE
from service.api.problems import ProblemError
from service.calculator.units import MIB


class StrictRequest(Request):
    """A request whose body is refused when it is too large, not declared as JSON, or not JSON."""

    async def body(self) -> bytes:
        """Return the body. Raises ProblemError when it passes the limit or is declared as something else."""
        if not hasattr(self, "_body"):
            limit: int = self.app.state.services.settings.body_limit_bytes
            declared = self.headers.get("content-length", "")
            if declared.isascii() and declared.isdigit() and int(declared) > limit:
                raise _too_large(limit)
            body = bytearray()
            async for chunk in self.stream():
                body += chunk
                if len(body) > limit:
                    raise _too_large(limit)
            if body and not _is_json(self.headers.get("content-type", "")):
                raise _wrong_media_type(self.headers.get("content-type", ""))
            self._body = bytes(body)
        return self._body

    async def json(self) -> Any:
        """Return the parsed body. Raises ProblemError when it is not JSON."""
        try:
            # The standard library's parser takes NaN and half surrogates, and a bomb of brackets ends its stack.
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            kind = JSON_TOO_DEEP if "recursion limit" in str(error) else MALFORMED_JSON
            raise ProblemError(kind, f"The body cannot be read as JSON: {error}.") from None


class StrictRoute(GuardedRoute):
    """A route that lets in who has its scope, and reads its body as a StrictRequest."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler, on a strict request."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            # A body can be received once; who has read it already hands it on.
            is_strict = isinstance(request, StrictRequest)
            return await handler(request if is_strict else StrictRequest(request.scope, request.receive))

        return handle


@lru_cache(maxsize=32)
def _is_json(content_type: str) -> bool:
    message = Message()
    message["content-type"] = content_type
    subtype = message.get_content_subtype()
    return message.get_content_maintype() == "application" and (subtype == "json" or subtype.endswith("+json"))


def _too_large(limit: int) -> ProblemError:
    # max_body_size of FastAPI would do the counting, but answers a declared length in text/plain: Starlette's
    # responder replaces whatever answer begins. Seen on FastAPI 0.165 with Starlette 1.10.
    return ProblemError(BODY_TOO_LARGE, f"The body may have {limit} bytes ({limit / MIB:g} MiB).")


def _wrong_media_type(content_type: str) -> ProblemError:
    declared = f"declared as {content_type!r}" if content_type else "sent without Content-Type"
    return ProblemError(UNSUPPORTED_MEDIA_TYPE, f"The body is {declared}; it must be application/json.")
