"""The catalogue of problems: every code the service can answer with, its status, and what to do about it.

The page `/docs/errors` is made from it, and the `type` of a problem points there.
"""

from dataclasses import dataclass
from http import HTTPStatus


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of problem; `code` never changes, `remedy` is for people."""

    code: str
    status: HTTPStatus
    title: str
    remedy: str


MALFORMED_JSON = Kind(
    "malformed_json",
    HTTPStatus.BAD_REQUEST,
    "The body is not JSON",
    "Send one JSON object in UTF-8, without NaN and Infinity. The detail says at which line and column reading failed.",
)
JSON_TOO_DEEP = Kind(
    "json_too_deep",
    HTTPStatus.BAD_REQUEST,
    "The body is nested too deeply",
    "No request needs more than a dozen levels; about two hundred are read.",
)
BAD_REQUEST = Kind(
    "bad_request",
    HTTPStatus.BAD_REQUEST,
    "The request cannot be read",
    "Check the request line, the headers and the body against the OpenAPI document.",
)
AUTHENTICATION_REQUIRED = Kind(
    "authentication_required",
    HTTPStatus.UNAUTHORIZED,
    "The request has no token",
    "Send the header Authorization: Bearer and the token. Who runs the service makes one with memplan token create.",
)
INVALID_TOKEN = Kind(
    "invalid_token",
    HTTPStatus.UNAUTHORIZED,
    "The token opens nothing",
    "It was mistyped, has expired or was revoked. Ask who runs the service for another one.",
)
INSUFFICIENT_SCOPE = Kind(
    "insufficient_scope",
    HTTPStatus.FORBIDDEN,
    "The token does not allow this",
    "The detail names the scope that this route needs. A token's scopes cannot be changed: ask for another token.",
)
NOT_FOUND = Kind(
    "not_found",
    HTTPStatus.NOT_FOUND,
    "There is no such page",
    "The documentation page lists every route; all of them but the health checks begin with /v1.",
)
PLAN_NOT_FOUND = Kind(
    "plan_not_found",
    HTTPStatus.NOT_FOUND,
    "There is no such plan",
    "It was never stored here, or it was deleted. GET /v1/plans lists those that are stored.",
)
OPERATION_NOT_FOUND = Kind(
    "operation_not_found",
    HTTPStatus.NOT_FOUND,
    "There is no such operation",
    "It was never begun here. The header Location of an answer with status 202 says where its operation is.",
)
CANDIDATE_NOT_FOUND = Kind(
    "candidate_not_found",
    HTTPStatus.NOT_FOUND,
    "The plan has no such candidate",
    "Candidates are counted from 0, in the order of the plan's answer. A plan in which nothing fits has none.",
)
COMPARISON_NOT_FOUND = Kind(
    "comparison_not_found",
    HTTPStatus.NOT_FOUND,
    "There is no such comparison",
    "It was never stored here. GET /v1/comparisons lists those that are stored.",
)
OBSERVATION_NOT_FOUND = Kind(
    "observation_not_found",
    HTTPStatus.NOT_FOUND,
    "There is no such observation",
    "It was never stored here, or it was deleted. GET /v1/observations lists those that are stored.",
)
DEVICE_NOT_FOUND = Kind(
    "device_not_found",
    HTTPStatus.NOT_FOUND,
    "There is no such device",
    "GET /v1/devices lists the ids; an alias or a scheduler label does as well, where it leads to one device only.",
)
POLICY_NOT_FOUND = Kind(
    "policy_not_found",
    HTTPStatus.NOT_FOUND,
    "The queue has no policy of its own",
    "GET /v1/policies lists those that are stated; a queue without one has that of the queue default, if there is one.",
)
METHOD_NOT_ALLOWED = Kind(
    "method_not_allowed",
    HTTPStatus.METHOD_NOT_ALLOWED,
    "This page does not take this method",
    "The header Allow says which methods it takes.",
)
IDEMPOTENCY_KEY_IN_USE = Kind(
    "idempotency_key_in_use",
    HTTPStatus.CONFLICT,
    "A request with this key is being worked on",
    "Send the same request again after the seconds in Retry-After; it then gets the answer of the first.",
)
RUN_OBSERVED = Kind(
    "run_already_observed",
    HTTPStatus.CONFLICT,
    "Another observation of this run is stored",
    "A run has one observation, with all that was measured of it. GET /v1/observations?run_id= finds it; delete it to "
    "send another, or take the id of another run.",
)
OPERATION_FINISHED = Kind(
    "operation_finished",
    HTTPStatus.CONFLICT,
    "The operation has ended",
    "It cannot be cancelled any more. GET of the operation has its result, or why it has none.",
)
DEVICE_NAME_TAKEN = Kind(
    "device_name_taken",
    HTTPStatus.CONFLICT,
    "The id is a name of another device",
    "Send the definition to the id that the detail names, or take an id that no device has as alias or label.",
)
DEFINITIONS_FULL = Kind(
    "definitions_full",
    HTTPStatus.CONFLICT,
    "As many definitions are stored as may be",
    "Delete those of devices or queues that are no longer used.",
)
DEVICE_NOT_REMOVABLE = Kind(
    "device_not_removable",
    HTTPStatus.CONFLICT,
    "The device is part of the catalogue or of another device",
    "A device of the catalogue cannot vanish; DELETE takes back what was said over it. A policy says which devices a "
    "queue may use. A slice is removed by a PUT of its device without it.",
)
PRECONDITION_FAILED = Kind(
    "precondition_failed",
    HTTPStatus.PRECONDITION_FAILED,
    "What is stored is not what the request has seen",
    "GET it again, apply the change to that, and send it with the new ETag as If-Match.",
)
BODY_TOO_LARGE = Kind(
    "body_too_large",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "The body is too large",
    "Send only the files that the config consists of; logs, data and weights are not needed.",
)
UNSUPPORTED_MEDIA_TYPE = Kind(
    "unsupported_media_type",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    "The body's media type is not JSON",
    "Send the header Content-Type: application/json. A script or a config file goes into the JSON field source.text.",
)
INVALID_REQUEST = Kind(
    "invalid_request",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "The request does not have the documented form",
    "Each entry of errors names a field, what is wrong with it and what would be right.",
)
INVALID_JOB = Kind(
    "invalid_job",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "The job breaks rules of its framework",
    "Each entry of errors names a rule, the fields it is about, what was found, and values that would do.",
)
INCOMPLETE_JOB = Kind(
    "incomplete_job",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "The job does not say everything that is needed",
    "State each fact listed in missing: in the job itself, or beside a source as source.model, source.world_size or "
    "source.env.",
)
UNKNOWN_DEVICE = Kind(
    "unknown_device",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "There is no such device in the catalogue",
    "GET /v1/devices lists the ids.",
)
INCOMPLETE_DEVICE = Kind(
    "incomplete_device",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "The catalogue lacks a figure of the device",
    "A search needs the memory that a process can use and the bandwidths of the links; GET /v1/devices shows which are "
    "known. POST /v1/estimates answers without them.",
)
IMPLAUSIBLE_MEASUREMENT = Kind(
    "implausible_measurement",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "The measurement cannot be of this run",
    "Sizes are bytes of one GPU, on a stage that the job has and on the device that it ran on.",
)
INVALID_DEVICE = Kind(
    "invalid_device",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "The definition of the device cannot stand",
    "Each entry of errors names a field, what is wrong with it and what would be right. Nothing was stored.",
)
INVALID_CURSOR = Kind(
    "invalid_cursor",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "The cursor was not given out by this service",
    "Take the cursor from next_cursor of the page before, or begin without one.",
)
IDEMPOTENCY_KEY_REUSED = Kind(
    "idempotency_key_reused",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "The key was given with another request before",
    "A key belongs to one request body for 24 hours. Take a new one for a new request.",
)
SEARCH_TOO_LARGE = Kind(
    "search_too_large",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "The search would look at too many layouts",
    "State some degrees in the job, or limit them under search.",
)
RATE_LIMITED = Kind(
    "rate_limited",
    HTTPStatus.TOO_MANY_REQUESTS,
    "The caller asks too often",
    "Send the same request again after the seconds in Retry-After. The headers RateLimit-Policy and RateLimit say what "
    "is allowed and what is left. Up to a hundred jobs go into one request for verdicts.",
)
TOO_MANY_AT_ONCE = Kind(
    "too_many_at_once",
    HTTPStatus.TOO_MANY_REQUESTS,
    "The caller asks too much at a time",
    "Wait for an answer before the next request, or send it again after the seconds in Retry-After. Event streams "
    "count as long as they are open.",
)
TOO_MANY_SEARCHES = Kind(
    "too_many_searches",
    HTTPStatus.TOO_MANY_REQUESTS,
    "The caller has as many searches as one may have",
    "Wait until one of them has ended, or cancel one: POST /v1/operations/{id}/cancel. Nothing was stored.",
)
INTERNAL_ERROR = Kind(
    "internal_error",
    HTTPStatus.INTERNAL_SERVER_ERROR,
    "The service failed",
    "This is a fault of the service, and nothing was stored. Report it with the request id; its log has the details.",
)
SEARCHES_FULL = Kind(
    "searches_full",
    HTTPStatus.SERVICE_UNAVAILABLE,
    "As many searches wait as may wait",
    "Send the same request again after the seconds in Retry-After, or limit what is searched so that searches are "
    "shorter. Nothing was stored.",
)
SERVICE_STOPPING = Kind(
    "service_stopping",
    HTTPStatus.SERVICE_UNAVAILABLE,
    "The service is being stopped",
    "Send the same request again after the seconds in Retry-After. Nothing was stored.",
)
STORE_BUSY = Kind(
    "store_busy",
    HTTPStatus.SERVICE_UNAVAILABLE,
    "The database was in use for too long",
    "Send the same request again after the seconds in Retry-After. Nothing was stored.",
)
STORE_UNAVAILABLE = Kind(
    "store_unavailable",
    HTTPStatus.SERVICE_UNAVAILABLE,
    "The database cannot be reached",
    "Send the same request again after the seconds in Retry-After; the service recovers by itself when the database "
    "is back. Estimates and imports need no database.",
)

KINDS: tuple[Kind, ...] = (
    MALFORMED_JSON,
    JSON_TOO_DEEP,
    BAD_REQUEST,
    AUTHENTICATION_REQUIRED,
    INVALID_TOKEN,
    INSUFFICIENT_SCOPE,
    NOT_FOUND,
    PLAN_NOT_FOUND,
    CANDIDATE_NOT_FOUND,
    OPERATION_NOT_FOUND,
    COMPARISON_NOT_FOUND,
    OBSERVATION_NOT_FOUND,
    DEVICE_NOT_FOUND,
    POLICY_NOT_FOUND,
    METHOD_NOT_ALLOWED,
    IDEMPOTENCY_KEY_IN_USE,
    RUN_OBSERVED,
    OPERATION_FINISHED,
    DEVICE_NAME_TAKEN,
    DEVICE_NOT_REMOVABLE,
    DEFINITIONS_FULL,
    PRECONDITION_FAILED,
    BODY_TOO_LARGE,
    UNSUPPORTED_MEDIA_TYPE,
    INVALID_REQUEST,
    INVALID_JOB,
    INCOMPLETE_JOB,
    UNKNOWN_DEVICE,
    INCOMPLETE_DEVICE,
    IMPLAUSIBLE_MEASUREMENT,
    INVALID_DEVICE,
    INVALID_CURSOR,
    IDEMPOTENCY_KEY_REUSED,
    SEARCH_TOO_LARGE,
    RATE_LIMITED,
    TOO_MANY_AT_ONCE,
    TOO_MANY_SEARCHES,
    INTERNAL_ERROR,
    SEARCHES_FULL,
    SERVICE_STOPPING,
    STORE_BUSY,
    STORE_UNAVAILABLE,
)
