"""What the process has counted and timed."""

from fastapi import APIRouter
from starlette.responses import Response

from service import metrics
from service.api.openapi import problems
from service.api.services import ServicesOf
from service.calculator.estimate import METHOD_VERSION
from service.usecases.release import RELEASE

router = APIRouter(tags=["service"])

_TEXT = {"content": {"text/plain": {"schema": {"type": "string"}}}}


@router.get("/metrics", response_class=Response, responses={200: _TEXT, **problems()})
async def get_metrics(services: ServicesOf) -> Response:
    """Return the figures of this process for Prometheus: latencies by route, verdicts, searches, waits."""
    metrics.show_build(RELEASE, METHOD_VERSION)
    metrics.show_fits(services.calibrations.fits())
    metrics.show_searches(*services.searches.numbers())
    return Response(metrics.rendered(), media_type=metrics.CONTENT_TYPE)
