"""What a call can raise: every class is a `MemplanError`, and every code of a problem has a class of its own."""

import json
from typing import Any, ClassVar

import httpx

from memplan_client.generated.models.fault import Fault
from memplan_client.generated.models.missing import Missing
from memplan_client.generated.models.operation_answer import OperationAnswer

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


class BadRequest(ProblemError, code="bad_request", status=400):
    """The request cannot be read."""


class MalformedJson(BadRequest, code="malformed_json"):
    """The body is not JSON."""


class JsonTooDeep(BadRequest, code="json_too_deep"):
    """The body is nested too deeply."""


class Unauthorized(ProblemError, status=401):
    """The service wants a token, or does not know the one given."""


class Forbidden(ProblemError, status=403):
    """The token does not allow this."""


class NotFound(ProblemError, code="not_found", status=404):
    """What was asked for is not there."""


class PlanNotFound(NotFound, code="plan_not_found"):
    """There is no such plan."""


class CandidateNotFound(NotFound, code="candidate_not_found"):
    """The plan has no such candidate."""


class OperationNotFound(NotFound, code="operation_not_found"):
    """There is no such operation."""


class ComparisonNotFound(NotFound, code="comparison_not_found"):
    """There is no such comparison."""


class MethodNotAllowed(ProblemError, code="method_not_allowed", status=405):
    """The page does not take this method."""


class Conflict(ProblemError, status=409):
    """The request does not go with the state of things."""


class IdempotencyKeyInUse(Conflict, code="idempotency_key_in_use"):
    """A request with this key is being worked on."""


class OperationFinished(Conflict, code="operation_finished"):
    """The operation has ended, and cannot be cancelled any more."""


class BodyTooLarge(ProblemError, code="body_too_large", status=413):
    """The body is too large."""


class UnsupportedMediaType(ProblemError, code="unsupported_media_type", status=415):
    """The body's media type is not JSON."""


class Refused(ProblemError, status=422):
    """The request is understood, and cannot be answered as it is."""


class InvalidRequest(Refused, code="invalid_request"):
    """The request does not have the documented form."""


class InvalidJob(Refused, code="invalid_job"):
    """The job breaks rules of its framework."""


class IncompleteJob(Refused, code="incomplete_job"):
    """The job does not say everything that is needed; `missing` lists what."""


class UnknownDevice(Refused, code="unknown_device"):
    """There is no such device in the catalogue."""


class IncompleteDevice(Refused, code="incomplete_device"):
    """The catalogue lacks a figure of the device."""


class InvalidCursor(Refused, code="invalid_cursor"):
    """The cursor was not given out by this service."""


class IdempotencyKeyReused(Refused, code="idempotency_key_reused"):
    """The key was given with another request before."""


class SearchTooLarge(Refused, code="search_too_large"):
    """The search would look at too many layouts."""


class TooManyRequests(ProblemError, status=429):
    """More requests than are allowed; `retry_after` says when to try again."""


class InternalError(ProblemError, code="internal_error", status=500):
    """The service failed."""


class Unavailable(ProblemError, status=503):
    """The service cannot answer now; `retry_after` says when to try again."""


class SearchesFull(Unavailable, code="searches_full"):
    """As many searches wait as may wait."""


class ServiceStopping(Unavailable, code="service_stopping"):
    """The service is being stopped."""


class StoreBusy(Unavailable, code="store_busy"):
    """The database was in use for too long."""


class StoreUnavailable(Unavailable, code="store_unavailable"):
    """The database cannot be reached."""


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
