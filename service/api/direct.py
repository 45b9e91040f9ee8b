"""Usual requests go straight to the function of their route; all others go through FastAPI, which says what is wrong.

FastAPI looks at every declared dependency of a route for each request, which took a third of what a verdict costs
besides its computation.
"""

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final, cast, get_type_hints

from starlette.requests import Request
from starlette.responses import Response

from service.api.bodies import StrictRequest, StrictRoute
from service.api.deadlines import DeadlineOf, usual_deadline
from service.api.services import DevicesOf, ServicesOf

_GIVEN: Final[tuple[tuple[Any, Callable[[Request], Any]], ...]] = (
    (Request, lambda request: request),
    (ServicesOf, lambda request: request.app.state.services),
    (DevicesOf, lambda request: request.state.devices),
    (DeadlineOf, usual_deadline),
)
"""What a function may declare beside its question, and where it is without FastAPI; None where FastAPI must look."""


class DirectRoute(StrictRoute):
    """A route whose function takes a question and some of what is `_GIVEN`, and is a coroutine."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of usual requests, with FastAPI's for the others."""
        handler = super().get_route_handler()
        question, given = _parameters(self.endpoint)
        endpoint = cast("Callable[..., Awaitable[Response]]", self.endpoint)
        field = self.body_field
        if field is None:
            raise TypeError(f"{self.path} takes no question")

        async def handle(request: Request) -> Response:
            strict = request if isinstance(request, StrictRequest) else StrictRequest(request.scope, request.receive)
            found = {name: take(strict) for name, take in given.items()}
            if None not in found.values() and await strict.body():
                stated, errors = field.validate(await strict.json(), {}, loc=("body",))
                if not errors:
                    return await endpoint(**{question: stated}, **found)
            return await handler(strict)

        return handle


def _parameters(endpoint: Callable[..., Any]) -> tuple[str, Mapping[str, Callable[[Request], Any]]]:
    """The name of the question, and of everything else that the function takes with where it is."""
    hints = get_type_hints(endpoint, include_extras=True)
    declared = {name: hints[name] for name in inspect.signature(endpoint).parameters}
    given = {name: take for name, hint in declared.items() for known, take in _GIVEN if hint == known}
    questions = [name for name in declared if name not in given]
    if len(questions) != 1 or not inspect.iscoroutinefunction(endpoint):
        raise TypeError(f"{endpoint.__qualname__} must be a coroutine of one question: {', '.join(questions)}")
    return questions[0], given
