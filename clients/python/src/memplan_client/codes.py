"""A class for each code of a problem; written by `make client`."""

from memplan_client.failures import (
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    Refused,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)

__all__ = [
    "AuthenticationRequired",
    "CandidateNotFound",
    "ComparisonNotFound",
    "DefinitionsFull",
    "DeviceNameTaken",
    "DeviceNotFound",
    "DeviceNotRemovable",
    "IdempotencyKeyInUse",
    "IdempotencyKeyReused",
    "ImplausibleMeasurement",
    "IncompleteDevice",
    "IncompleteJob",
    "InsufficientScope",
    "InvalidCursor",
    "InvalidDevice",
    "InvalidJob",
    "InvalidRequest",
    "InvalidToken",
    "JsonTooDeep",
    "MalformedJson",
    "ObservationNotFound",
    "OperationFinished",
    "OperationNotFound",
    "PlanNotFound",
    "PolicyNotFound",
    "RateLimited",
    "RunAlreadyObserved",
    "SearchTooLarge",
    "SearchesFull",
    "ServiceStopping",
    "StoreBusy",
    "StoreUnavailable",
    "TooManyAtOnce",
    "TooManySearches",
    "UnknownDevice",
]


class AuthenticationRequired(Unauthorized, code="authentication_required"):
    """The request has no token."""


class CandidateNotFound(NotFound, code="candidate_not_found"):
    """The plan has no such candidate."""


class ComparisonNotFound(NotFound, code="comparison_not_found"):
    """There is no such comparison."""


class DefinitionsFull(Conflict, code="definitions_full"):
    """As many definitions are stored as may be."""


class DeviceNameTaken(Conflict, code="device_name_taken"):
    """The id is a name of another device."""


class DeviceNotFound(NotFound, code="device_not_found"):
    """There is no such device."""


class DeviceNotRemovable(Conflict, code="device_not_removable"):
    """The device is part of the catalogue or of another device."""


class IdempotencyKeyInUse(Conflict, code="idempotency_key_in_use"):
    """A request with this key is being worked on."""


class IdempotencyKeyReused(Refused, code="idempotency_key_reused"):
    """The key was given with another request before."""


class ImplausibleMeasurement(Refused, code="implausible_measurement"):
    """The measurement cannot be of this run."""


class IncompleteDevice(Refused, code="incomplete_device"):
    """The catalogue lacks a figure of the device."""


class IncompleteJob(Refused, code="incomplete_job"):
    """The job does not say everything that is needed."""


class InsufficientScope(Forbidden, code="insufficient_scope"):
    """The token does not allow this."""


class InvalidCursor(Refused, code="invalid_cursor"):
    """The cursor was not given out by this service."""


class InvalidDevice(Refused, code="invalid_device"):
    """The definition of the device cannot stand."""


class InvalidJob(Refused, code="invalid_job"):
    """The job breaks rules of its framework."""


class InvalidRequest(Refused, code="invalid_request"):
    """The request does not have the documented form."""


class InvalidToken(Unauthorized, code="invalid_token"):
    """The token opens nothing."""


class JsonTooDeep(BadRequest, code="json_too_deep"):
    """The body is nested too deeply."""


class MalformedJson(BadRequest, code="malformed_json"):
    """The body is not JSON."""


class ObservationNotFound(NotFound, code="observation_not_found"):
    """There is no such observation."""


class OperationFinished(Conflict, code="operation_finished"):
    """The operation has ended."""


class OperationNotFound(NotFound, code="operation_not_found"):
    """There is no such operation."""


class PlanNotFound(NotFound, code="plan_not_found"):
    """There is no such plan."""


class PolicyNotFound(NotFound, code="policy_not_found"):
    """The queue has no policy of its own."""


class RateLimited(TooManyRequests, code="rate_limited"):
    """The caller asks too often."""


class RunAlreadyObserved(Conflict, code="run_already_observed"):
    """Another observation of this run is stored."""


class SearchTooLarge(Refused, code="search_too_large"):
    """The search would look at too many layouts."""


class SearchesFull(Unavailable, code="searches_full"):
    """As many searches wait as may wait."""


class ServiceStopping(Unavailable, code="service_stopping"):
    """The service is being stopped."""


class StoreBusy(Unavailable, code="store_busy"):
    """The database was in use for too long."""


class StoreUnavailable(Unavailable, code="store_unavailable"):
    """The database cannot be reached."""


class TooManyAtOnce(TooManyRequests, code="too_many_at_once"):
    """The caller asks too much at a time."""


class TooManySearches(TooManyRequests, code="too_many_searches"):
    """The caller has as many searches as one may have."""


class UnknownDevice(Refused, code="unknown_device"):
    """There is no such device in the catalogue."""
