"""Every error that a request can end in, as a problem; the routes themselves catch nothing."""

from dataclasses import asdict

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from service.api import catalogue
from service.api.catalogue import Kind
from service.api.following import StreamEnded
from service.api.problems import ProblemError, problem_response
from service.api.schemas.problem import Fault, Missing
from service.catalog.definitions import InvalidDefinition
from service.job.diagnostics import Diagnostic
from service.job.schema import field_of
from service.store.errors import InvalidCursor, NotFound, StoreBusy, StoreUnavailable
from service.usecases.errors import (
    IncompleteDevice,
    NoSuchCandidate,
    NoSuchDevice,
    NotRemovable,
    NotThisName,
    PreconditionFailed,
    RejectedJob,
    SearchTooLarge,
    TooManyDefinitions,
)
from service.usecases.faults import faults_of
from service.usecases.idempotency import KeyInUse, KeyReused
from service.usecases.observations import RunObserved
from service.usecases.operations import OperationFinished
from service.usecases.predictions import ImplausibleMeasurement
from service.usecases.schema_tree import SchemaTree
from service.usecases.search_queue import ServiceStopping, TooManySearches, TooManySearchesOfCaller

_RETRY_AFTER = {"Retry-After": "1"}
_BY_STATUS = {
    400: catalogue.BAD_REQUEST,
    404: catalogue.NOT_FOUND,
    405: catalogue.METHOD_NOT_ALLOWED,
}
_NOT_FOUND = {
    "plan": catalogue.PLAN_NOT_FOUND,
    "operation": catalogue.OPERATION_NOT_FOUND,
    "comparison": catalogue.COMPARISON_NOT_FOUND,
    "observation": catalogue.OBSERVATION_NOT_FOUND,
    "device": catalogue.DEVICE_NOT_FOUND,
    "policy": catalogue.POLICY_NOT_FOUND,
}


def install(app: FastAPI) -> None:
    """Answer every error of the application with a problem."""
    for error, handler in {
        ProblemError: _problem,
        HTTPException: _http,
        RequestValidationError: _invalid_request,
        RejectedJob: _rejected_job,
        NoSuchDevice: _no_such_device,
        NoSuchCandidate: _no_such_candidate,
        IncompleteDevice: _incomplete_device,
        InvalidDefinition: _invalid_definition,
        NotThisName: _not_this_name,
        NotRemovable: _not_removable,
        TooManyDefinitions: _too_many_definitions,
        PreconditionFailed: _precondition_failed,
        SearchTooLarge: _search_too_large,
        InvalidCursor: _invalid_cursor,
        NotFound: _not_found,
        OperationFinished: _operation_finished,
        RunObserved: _run_observed,
        ImplausibleMeasurement: _implausible_measurement,
        KeyReused: _key_reused,
        KeyInUse: _key_in_use,
        StreamEnded: _stream_ended,
        TooManySearches: _too_many_searches,
        TooManySearchesOfCaller: _too_many_searches_of_caller,
        ServiceStopping: _service_stopping,
        StoreBusy: _store_busy,
        StoreUnavailable: _store_unavailable,
    }.items():
        app.add_exception_handler(error, handler)  # type: ignore[arg-type]  # each takes its own error


async def _problem(request: Request, error: ProblemError) -> Response:
    return problem_response(request, error.kind, error.detail, error.errors, headers=error.headers)


async def _http(request: Request, error: HTTPException) -> Response:
    kind = _BY_STATUS.get(error.status_code, catalogue.BAD_REQUEST)
    headers = dict(error.headers or {})
    if "Allow" in headers:
        headers["Allow"] = _allowed(request) or headers["Allow"]
    detail = f"{request.method} {request.url.path}: {kind.title.lower()}"
    detail += f"; it takes {headers['Allow']}." if "Allow" in headers else "."
    return problem_response(request, kind, detail, headers=headers)


def _allowed(request: Request) -> str:
    # Starlette names the methods of the first route that has the path, and there may be several.
    path = request.app.state.templates.get(request.scope.get("endpoint"))
    return ", ".join(sorted(request.app.state.methods.get(path, ())))


async def _invalid_request(request: Request, error: RequestValidationError) -> Response:
    found = faults_of(error.errors(), error.body, _schemas(request))
    faults = [Fault.model_validate(asdict(each)) for each in found]
    return problem_response(request, catalogue.INVALID_REQUEST, _summary(faults), faults)


def _schemas(request: Request) -> dict[str, SchemaTree]:
    """Return the schemas of the route's body and of its query, from the document."""
    document = request.app.openapi()
    found = (each for path in document["paths"].values() for each in path.values())
    operation = next(each for each in found if each["operationId"] == request.scope["route"].name)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    query = {
        each["name"]: {"description": each.get("description", ""), **each["schema"]}
        for each in operation.get("parameters", ())
        if each["in"] == "query"
    }
    definitions = document["components"]["schemas"]
    return {"body": SchemaTree(body, definitions), "query": SchemaTree({"properties": query}, definitions)}


async def _rejected_job(request: Request, error: RejectedJob) -> Response:
    findings = error.findings
    faults = [_broken_rule(each, error.given_as) for each in findings.errors]
    missing = [Missing(fact=each.fact, message=each.message) for each in findings.missing]
    faults += [
        Fault(
            pointer=_at(field_of(each.fact) or "", error.given_as),
            code="missing_fact",
            message=f"{each.fact} is missing",
            fix=each.message,
        )
        for each in missing
    ]
    kind = catalogue.INVALID_JOB if findings.errors else catalogue.INCOMPLETE_JOB
    return problem_response(request, kind, _summary(faults), faults, missing)


def _at(field: str, given_as: str) -> str:
    """Where a field of the job stands in the request; a source has no field of its own for each fact."""
    return f"/{given_as}{field}" if given_as == "job" else f"/{given_as}"


def _broken_rule(diagnostic: Diagnostic, given_as: str) -> Fault:
    return Fault(
        pointer=_at(diagnostic.fields[0] if diagnostic.fields else "", given_as),
        code=diagnostic.code,
        message=diagnostic.message,
        fix="; or ".join(diagnostic.fixes) or diagnostic.rule,
        fields=list(diagnostic.fields),
        found=diagnostic.found,
        rule=diagnostic.rule,
        fixes=list(diagnostic.fixes),
    )


async def _no_such_device(request: Request, error: NoSuchDevice) -> Response:
    fix = f"did you mean {', '.join(error.close)}?" if error.close else catalogue.UNKNOWN_DEVICE.remedy
    fault = Fault(pointer=error.field, code="unknown_device", message=f"{error}", fix=fix)
    return problem_response(request, catalogue.UNKNOWN_DEVICE, f"{error}: {fix}", [fault])


async def _no_such_candidate(request: Request, error: NoSuchCandidate) -> Response:
    return problem_response(request, catalogue.CANDIDATE_NOT_FOUND, str(error))


async def _incomplete_device(request: Request, error: IncompleteDevice) -> Response:
    return problem_response(request, catalogue.INCOMPLETE_DEVICE, str(error))


async def _invalid_definition(request: Request, error: InvalidDefinition) -> Response:
    faults = [Fault(pointer=each.pointer, code=each.code, message=each.message, fix=each.fix) for each in error.faults]
    return problem_response(request, catalogue.INVALID_DEVICE, _summary(faults), faults)


async def _not_this_name(request: Request, error: NotThisName) -> Response:
    return problem_response(request, catalogue.DEVICE_NAME_TAKEN, str(error))


async def _not_removable(request: Request, error: NotRemovable) -> Response:
    return problem_response(request, catalogue.DEVICE_NOT_REMOVABLE, str(error))


async def _too_many_definitions(request: Request, error: TooManyDefinitions) -> Response:
    return problem_response(request, catalogue.DEFINITIONS_FULL, str(error))


async def _precondition_failed(request: Request, error: PreconditionFailed) -> Response:
    return problem_response(request, catalogue.PRECONDITION_FAILED, str(error))


async def _search_too_large(request: Request, error: SearchTooLarge) -> Response:
    return problem_response(request, catalogue.SEARCH_TOO_LARGE, str(error))


async def _invalid_cursor(request: Request, error: InvalidCursor) -> Response:
    fault = Fault(
        location="query", pointer="/cursor", code="invalid_cursor", message=str(error), fix="begin without a cursor"
    )
    return problem_response(request, catalogue.INVALID_CURSOR, str(error), [fault])


async def _not_found(request: Request, error: NotFound) -> Response:
    return problem_response(request, _NOT_FOUND[error.noun], str(error))


async def _operation_finished(request: Request, error: OperationFinished) -> Response:
    return problem_response(request, catalogue.OPERATION_FINISHED, str(error))


async def _run_observed(request: Request, error: RunObserved) -> Response:
    fault = Fault(
        pointer="/run_id",
        code="run_already_observed",
        message=str(error),
        fix="send what was sent before, delete that observation first, or take the id of another run",
    )
    return problem_response(request, catalogue.RUN_OBSERVED, str(error), [fault])


async def _implausible_measurement(request: Request, error: ImplausibleMeasurement) -> Response:
    fault = Fault(pointer=error.field, code="implausible_measurement", message=str(error), fix=error.fix)
    return problem_response(request, catalogue.IMPLAUSIBLE_MEASUREMENT, f"{error.field}: {error}", [fault])


async def _key_reused(request: Request, error: KeyReused) -> Response:
    fault = Fault(
        location="header",
        pointer="/Idempotency-Key",
        code="idempotency_key_reused",
        message=str(error),
        fix="take another key for another request",
    )
    return problem_response(request, catalogue.IDEMPOTENCY_KEY_REUSED, str(error), [fault])


async def _key_in_use(request: Request, error: KeyInUse) -> Response:
    return _retry_later(request, catalogue.IDEMPOTENCY_KEY_IN_USE, error)


async def _stream_ended(_request: Request, _error: StreamEnded) -> Response:
    # What tells a browser not to open the stream again.
    return Response(status_code=204)


async def _too_many_searches(request: Request, error: TooManySearches) -> Response:
    return _retry_later(request, catalogue.SEARCHES_FULL, error)


async def _too_many_searches_of_caller(request: Request, error: TooManySearchesOfCaller) -> Response:
    return _retry_later(request, catalogue.TOO_MANY_SEARCHES, error)


async def _service_stopping(request: Request, error: ServiceStopping) -> Response:
    return _retry_later(request, catalogue.SERVICE_STOPPING, error)


async def _store_busy(request: Request, error: StoreBusy) -> Response:
    return _retry_later(request, catalogue.STORE_BUSY, error)


async def _store_unavailable(request: Request, error: StoreUnavailable) -> Response:
    return _retry_later(request, catalogue.STORE_UNAVAILABLE, error)


def _retry_later(request: Request, kind: Kind, error: Exception) -> Response:
    return problem_response(request, kind, str(error), headers=_RETRY_AFTER)


def _summary(faults: list[Fault]) -> str:
    first = faults[0]
    where = f"{first.pointer}: " if first.pointer else ""
    others = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{where}{first.message}{others}"
