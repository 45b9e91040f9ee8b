"""Problems: the one way this service says that something went wrong, as `application/problem+json` (RFC 9457)."""

from collections.abc import Mapping, Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from service.api.catalogue import Kind
from service.api.schemas.problem import Fault, Missing, Problem

MEDIA_TYPE = "application/problem+json"
ERRORS_PAGE = "/docs/errors"
# A list of ten thousand wrong elements is one mistake, not ten thousand.
MOST_FAULTS = 100


class ProblemError(HTTPException):
    """A problem that the request meets before its route is called; an HTTPException, which FastAPI lets through."""

    def __init__(
        self, kind: Kind, detail: str, errors: Sequence[Fault] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status_code=kind.status, detail=detail, headers=headers)
        self.kind = kind
        self.errors = errors


def problem_response(
    request: Request,
    kind: Kind,
    detail: str,
    errors: Sequence[Fault] = (),
    missing: Sequence[Missing] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the answer for a problem of this kind; of very many errors only the first hundred are listed."""
    # Within a mounted application the root path is that of the mount, which the errors page is not below.
    root = request.scope.get("app_root_path", request.scope.get("root_path", ""))
    problem = Problem(
        type=f"{root}{ERRORS_PAGE}#{kind.code}",
        title=kind.title,
        status=int(kind.status),
        detail=detail,
        instance=request.url.path,
        code=kind.code,
        request_id=request.state.request_id,
        errors=list(errors[:MOST_FAULTS]),
        missing=None if missing is None else list(missing),
    )
    body = problem.model_dump_json(exclude_none=True)
    return Response(body, status_code=int(kind.status), headers=headers, media_type=MEDIA_TYPE)
