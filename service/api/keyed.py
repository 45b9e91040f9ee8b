"""Creating requests with the header `Idempotency-Key`: repeated, they give the same answer and make nothing twice."""

import hashlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Depends, Header
from fastapi.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from service.api.bodies import StrictRequest, StrictRoute
from service.api.replies import OUTCOMES, reply_again
from service.api.services import Services
from service.store.keys import Name
from service.usecases.idempotency import Ended

REPLAYED: Final = "Idempotency-Replayed"
_LONGEST = 255

IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=_LONGEST,
        pattern=r"^[\x20-\x7e]*$",
        description="Any text of the caller's that makes the request safe to repeat within 24 hours: the same key with "
        "the same body gives the same answer, with the header Idempotency-Replayed.",
        examples=["slurm-job-4711"],
    ),
]


async def _claim(request: Request, _: IdempotencyKey = "") -> UUID | None:
    # The header is declared for its form and for the document; the route below has read it.
    return getattr(request.state, "claim", None)


ClaimOf = Annotated[UUID | None, Depends(_claim)]
REPLAY_HEADER: dict[str, Any] = {
    REPLAYED: {"description": "`true` when this is the answer to an earlier request.", "schema": {"type": "string"}}
}


class KeyedRoute(StrictRoute):
    """A route that may create: what a POST has made is kept under the caller's key, any other end gives it back."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of a strict route, behind the caller's key."""
        handler = super().get_route_handler()
        route = f"POST {self.path}"

        async def handle(request: Request) -> Response:
            key = request.headers.get("idempotency-key", "")
            is_key = 0 < len(key) <= _LONGEST and key.isascii() and key.isprintable()
            if request.method != "POST" or not is_key:
                return await handler(request)
            strict = StrictRequest(request.scope, request.receive)
            fingerprint = hashlib.sha256(await strict.body()).hexdigest()
            services: Services = request.app.state.services
            claim = await run_in_threadpool(
                services.claims.claim, Name(request.state.caller.token_id or "", route, key), fingerprint
            )
            if isinstance(claim, Ended):
                return await run_in_threadpool(_again, services, claim)
            return await _first(handler, strict, services, claim)

        return handle


async def _first(
    handler: Callable[[Request], Coroutine[Any, Any, Response]], request: Request, services: Services, claim: UUID
) -> Response:
    request.state.claim = claim
    try:
        response = await handler(request)
        made = response.headers["Location"].rpartition("/")[2]
        await run_in_threadpool(services.claims.settle, claim, Ended(OUTCOMES[response.status_code], made))
    except Exception:
        await run_in_threadpool(services.claims.release, claim)
        raise
    return response


def _again(services: Services, end: Ended) -> Response:
    response = reply_again(services.store, end)
    response.headers[REPLAYED] = "true"
    return response
