"""Who may ask: each route says which scope it needs, and a request is let in before anything of it is read.

Answers that are remembered by their request, or by the caller's key, are given without FastAPI's dependencies; so a
route is guarded as a whole, and its dependency only declares the scope.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Depends, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.openapi.models import HTTPBearer
from fastapi.params import Security as SecurityParameter
from fastapi.routing import APIRoute
from fastapi.security.base import SecurityBase
from starlette.requests import Request
from starlette.types import Receive, Send
from starlette.types import Scope as RequestScope

from service.api.catalogue import AUTHENTICATION_REQUIRED, INSUFFICIENT_SCOPE, INVALID_TOKEN
from service.api.problems import ProblemError
from service.api.services import Services
from service.store.tokens import StoredToken
from service.usecases.scopes import SCOPES, Scope

_CREDENTIALS = re.compile(r"Bearer +(\S+) *", re.IGNORECASE)
_ANYTHING: Final = frozenset(SCOPES)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the id of a token, or None for one who needs none, and where the request came from."""

    token_id: str | None
    address: str
    scopes: frozenset[str]

    @property
    def name(self) -> str:
        """What callers are told apart by, in limits."""
        return self.token_id or self.address

    def may(self, scope: Scope) -> bool:
        """Whether the caller has this scope."""
        return scope in self.scopes or "admin" in self.scopes


class _Bearer(SecurityBase):
    """The scheme as the document describes it; the request has been let in when FastAPI asks."""

    def __init__(self) -> None:
        self.scheme_name = "bearer"
        self.model = HTTPBearer(
            description="A token made by `memplan token create`. Each operation lists the scope that it needs; "
            "`admin` includes the others."
        )

    async def __call__(self, request: Request) -> Caller:
        caller: Caller = request.state.caller
        return caller


_BEARER: Final = _Bearer()

CallerOf = Annotated[Caller, Depends(_BEARER)]


def requires(scope: Scope) -> Any:
    """Return the dependency by which a route declares its scope: `dependencies=[requires("plan:read")]`."""
    return Security(_BEARER, scopes=[scope])


class GuardedRoute(APIRoute):
    """A route that lets in who has its scope; one that declares none cannot be made."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.scope_needed = _declared(self)

    async def handle(self, scope: RequestScope, receive: Receive, send: Send) -> None:
        """Serve a request that was let in. Raises ProblemError for the others."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        request, services = Request(scope), scope["app"].state.services
        caller = request.state.caller = await _caller(request, services, self.scope_needed)
        request.state.headers = services.quotas.charge(caller.name)
        if not caller.may(self.scope_needed):
            raise _insufficient(self.scope_needed)
        with services.quotas.occupied(caller.name):
            await super().handle(scope, receive, send)


def _declared(route: APIRoute) -> Scope:
    declared = [
        scope
        for each in route.dependencies
        if isinstance(each, SecurityParameter) and each.dependency is _BEARER
        for scope in each.scopes or ()
    ]
    if len(declared) != 1:
        methods = " ".join(sorted(route.methods or ()))
        raise TypeError(f'{methods} {route.path} must declare one scope: dependencies=[requires("plan:read")]')
    (scope,) = declared
    return next(each for each in SCOPES if each == scope)


async def _caller(request: Request, services: Services, needed: Scope) -> Caller:
    address = request.client.host if request.client else ""
    found = _CREDENTIALS.fullmatch(request.headers.get("authorization", ""))
    if found is None:
        if request.app.state.needs_tokens:
            raise _unknown(needed)
        return Caller(None, address, _ANYTHING)
    token = services.keyring.recall(found[1]) or await _looked_up(services, found[1], address)
    return Caller(token.id, address, frozenset(token.scopes))


async def _looked_up(services: Services, secret: str, address: str) -> StoredToken:
    # Behind one address there may be many callers: those that are known are not kept out with one that guesses.
    if not services.keyring.was_valid(secret):
        services.quotas.check_failures(address)
    token = await run_in_threadpool(services.keyring.look_up, secret)
    if token is None:
        services.quotas.count_failure(address)
        raise _invalid()
    return token


def _unknown(needed: Scope) -> ProblemError:
    # RFC 6750, section 3.1: who sent no credentials is told no error code.
    challenge = f'Bearer realm="memplan", scope="{needed}"'
    detail = f"This route needs a token with the scope {needed}."
    return ProblemError(AUTHENTICATION_REQUIRED, detail, headers={"WWW-Authenticate": challenge})


def _invalid() -> ProblemError:
    detail = "The token is not known here, has expired or was revoked."
    challenge = f'Bearer realm="memplan", error="invalid_token", error_description="{detail}"'
    return ProblemError(INVALID_TOKEN, detail, headers={"WWW-Authenticate": challenge})


def _insufficient(needed: Scope) -> ProblemError:
    challenge = f'Bearer realm="memplan", error="insufficient_scope", scope="{needed}"'
    detail = f"This route needs the scope {needed}, which the token does not have."
    return ProblemError(INSUFFICIENT_SCOPE, detail, headers={"WWW-Authenticate": challenge})
