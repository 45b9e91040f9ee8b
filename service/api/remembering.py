"""Answers to requests that were seen before, byte for byte: sent again without reading the request."""

import hashlib
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from service import metrics
from service.api.bodies import StrictRequest
from service.api.direct import DirectRoute
from service.api.services import Remembered

_JSON = "application/json"
_NO_VERDICTS: Mapping[str, int] = {}


class RememberingRoute(DirectRoute):
    """A route whose answers depend on nothing but the request, the devices and the observed runs.

    Those given to `remembered` are sent again.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of a direct route, behind a look into the memory."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            strict = StrictRequest(request.scope, request.receive)
            request.state.devices = request.app.state.services.devices.now
            key = _key(strict, await strict.body(), request.state.devices.stamp)
            answer = request.app.state.services.answers.get(key)
            if answer is not None:
                metrics.count_verdicts(answer.verdicts)
                return Response(answer.body, media_type=_JSON)
            request.state.answer_key = key
            return await handler(strict)

        return handle


def remembered(request: Request, body: bytes, verdicts: Mapping[str, int] = _NO_VERDICTS) -> Response:
    """Return an answer, and remember it for the same request, with the verdicts to be counted each time."""
    request.app.state.services.answers.put(request.state.answer_key, Remembered(body, verdicts), len(body))
    return Response(body, media_type=_JSON)


def _key(request: Request, body: bytes, devices: bytes) -> bytes:
    # The query and the header are part of it because they may be refused.
    seen = hashlib.sha256(devices + body)
    known = str(request.app.state.services.calibrations.evidence.generation)
    scope, deadline = request.scope, request.headers.get("x-deadline-ms", "")
    for each in (known.encode(), scope["path"].encode(), scope["query_string"], deadline.encode()):
        seen.update(b"\0" + each)
    return seen.digest()
