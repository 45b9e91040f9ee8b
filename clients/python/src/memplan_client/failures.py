"""What a call can raise, by kind; the classes of a problem's codes are in `codes`."""

import json
from typing import Any, ClassVar

import httpx

from memplan_client.generated.models.fault import Fault
from memplan_client.generated.models.missing import Missing
from memplan_client.generated.models.operation_answer import OperationAnswer

__all__ = [
    "BadRequest",
    "BodyTooLarge",
    "Conflict",
    "Forbidden",
    "InternalError",
    "MemplanError",
    "MethodNotAllowed",
    "NotFound",
    "OperationCancelled",
    "OperationError",
    "OperationFailed",
    "OperationUnfinished",
    "PreconditionFailed",
    "ProblemError",
    "Refused",
    "ServiceTimeout",
    "ServiceUnreachable",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
    "UnexpectedAnswer",
    "UnsupportedMediaType",
]

_LONGEST_TEXT = 300


class MemplanError(Exception):
    """Anything that a call can raise."""


class ServiceUnreachable(MemplanError):
    """The service did not answer: no connection, a broken one, or not in time."""


class ServiceTimeout(ServiceUnreachable):
    """The service did not answer in time."""


class UnexpectedAnswer(MemplanError):
    """The answer is none of memplan's, as from a proxy in between, or from a release that this client cannot read."""

    def __init__(self, message: str, status: int | None = None, text: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.text = text

    @classmethod
    def unreadable(cls, error: Exception) -> "UnexpectedAnswer":
        """Return the error that says that an answer has another form than this client knows."""
        return cls(f"the answer cannot be read ({type(error).__name__}: {error}); a newer memplan-client may read it")


class OperationError(MemplanError):
    """A search ended without a plan, or has not ended yet."""

    def __init__(self, message: str, operation: OperationAnswer) -> None:
        super().__init__(message)
        self.operation = operation


class OperationFailed(OperationError):
    """The search failed; `code` says why, and the question can be sent again."""

    @property
    def code(self) -> str | None:
        """Stable name of the reason."""
        return self.operation.error.code if self.operation.error else None


class OperationCancelled(OperationError):
    """The search was cancelled."""


class OperationUnfinished(OperationError):
    """The search takes longer than the caller waits; it goes on, and `Client.wait` waits for it again."""


class ProblemError(MemplanError):
    """The service answered with a problem (RFC 9457).

    `code` is stable; `errors` lists all that is wrong with the request, `missing` the facts that a job does not state.
    """

    by_code: ClassVar[dict[str, type["ProblemError"]]] = {}
    by_status: ClassVar[dict[int, type["ProblemError"]]] = {}

    def __init_subclass__(cls, code: str | None = None, status: int | None = None) -> None:
        super().__init_subclass__()
        if code is not None:
            ProblemError.by_code[code] = cls
        if status is not None:
            ProblemError.by_status[status] = cls

    def __init__(self, problem: dict[str, Any], status: int, retry_after: float | None) -> None:
        self.status = status
        self.code = str(problem["code"])
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail", ""))
        self.request_id = str(problem.get("request_id", ""))
        self.errors = [Fault.from_dict(each) for each in problem.get("errors") or ()]
        self.missing = [Missing.from_dict(each) for each in problem.get("missing") or ()]
        self.retry_after = retry_after
        super().__init__(f"{self.code}: {self.detail or self.title}")


class BadRequest(ProblemError, status=400):
    """The request cannot be read."""


class Unauthorized(ProblemError, status=401):
    """The service wants a token, or does not know the one given."""


class Forbidden(ProblemError, status=403):
    """The token does not allow this."""


class NotFound(ProblemError, status=404):
    """What was asked for is not there."""


class MethodNotAllowed(ProblemError, status=405):
    """The page does not take this method."""


class Conflict(ProblemError, status=409):
    """The request does not go with the state of things."""


class PreconditionFailed(ProblemError, status=412):
    """What was to be changed is not what the caller has seen."""


class BodyTooLarge(ProblemError, status=413):
    """The body is too large."""


class UnsupportedMediaType(ProblemError, status=415):
    """The body's media type is not JSON."""


class Refused(ProblemError, status=422):
    """The request is understood, and cannot be answered as it is; `errors` and `missing` say why."""


class TooManyRequests(ProblemError, status=429):
    """More requests than are allowed; `retry_after` says when to try again."""


class InternalError(ProblemError, status=500):
    """The service failed."""


class Unavailable(ProblemError, status=503):
    """The service cannot answer now; `retry_after` says when to try again."""


def error_of(response: httpx.Response, retry_after: float | None) -> MemplanError:
    """Return the error that a read response stands for."""
    try:
        problem = json.loads(response.content)
        kind = ProblemError.by_code.get(problem["code"]) or ProblemError.by_status.get(response.status_code)
        return (kind or ProblemError)(problem, response.status_code, retry_after)
    except (ValueError, TypeError, KeyError, AttributeError):
        return unexpected(response)


def unexpected(response: httpx.Response) -> UnexpectedAnswer:
    """Return the error that says that a response is none of memplan's."""
    text = response.text
    said = " ".join(text.split())[:_LONGEST_TEXT]
    message = f"{response.request.method} {response.request.url}: unexpected answer {response.status_code}: {said}"
    return UnexpectedAnswer(message, response.status_code, text)
