"""How much memory a job takes."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Body
from starlette.requests import Request
from starlette.responses import Response

from service.api.access import requires
from service.api.catalogue import INCOMPLETE_JOB, INVALID_JOB, UNKNOWN_DEVICE
from service.api.lanes import computed
from service.api.openapi import BODY_PROBLEMS, problems
from service.api.remembering import RememberingRoute, remembered
from service.api.schemas.estimate import EstimateAnswer
from service.api.schemas.estimate_request import EstimateRequest
from service.api.schemas.examples import ESTIMATES
from service.api.services import DevicesOf, ServicesOf
from service.calibration.evidence import Evidence
from service.catalog.devices import Devices
from service.usecases import estimates

router = APIRouter(tags=["estimate"], route_class=RememberingRoute)


@router.post(
    "/estimates",
    dependencies=[requires("verdict:read")],
    response_model=EstimateAnswer,
    responses=problems(*BODY_PROBLEMS, INVALID_JOB, INCOMPLETE_JOB, UNKNOWN_DEVICE),
)
async def create_estimate(
    question: Annotated[EstimateRequest, Body(openapi_examples=ESTIMATES)],
    services: ServicesOf,
    devices: DevicesOf,
    request: Request,
) -> Response:
    """Itemise the memory of one job on one device: every pipeline stage, at its worst moment, tensor by tensor.

    A job that does not fit is an answer like any other; nothing is stored.
    """
    evidence = services.calibrations.evidence_for(use_observations=question.use_observations)
    answer = partial(_answer, question, devices, evidence)
    return remembered(request, await computed(answer, services.lanes.of(question.given)))


def _answer(question: EstimateRequest, devices: Devices, evidence: Evidence) -> bytes:
    found = estimates.estimate_job(question.given, question.device, devices=devices, evidence=evidence)
    return EstimateAnswer.of(found).model_dump_json(by_alias=True).encode()
