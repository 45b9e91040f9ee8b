"""Whether jobs fit targets, within the caller's time."""

from collections import Counter
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Body
from starlette.requests import Request
from starlette.responses import Response

from service import metrics
from service.api.access import requires
from service.api.deadlines import DeadlineOf
from service.api.openapi import BODY_PROBLEMS, problems
from service.api.remembering import RememberingRoute, remembered
from service.api.schemas.examples import VERDICTS
from service.api.schemas.verdict import VerdictList
from service.api.schemas.verdict_request import VerdictRequest
from service.api.services import DevicesOf, ServicesOf
from service.usecases.refusals import ruled
from service.usecases.verdicts import Board, finish, judge_each

router = APIRouter(tags=["verdict"], route_class=RememberingRoute)


@router.post(
    "/verdicts", dependencies=[requires("verdict:read")], response_model=VerdictList, responses=problems(*BODY_PROBLEMS)
)
async def create_verdicts(
    question: Annotated[VerdictRequest, Body(openapi_examples=VERDICTS)],
    deadline: DeadlineOf,
    services: ServicesOf,
    devices: DevicesOf,
    request: Request,
) -> Response:
    """Say whether jobs fit targets, in few words and within the caller's time; nothing is stored.

    `timeout` and `X-Deadline-Ms` say how long the caller waits. What is not ready at 90 % of that is `unknown`; the
    answer itself comes in time. A job that is incomplete or invalid is `unknown` too, and says why.
    """
    evidence = services.calibrations.evidence_for(use_observations=question.use_observations)
    board = Board([each.item() for each in question.items], devices, evidence)
    lane = services.lanes.of(*(each.given for each in board.items), answers=len(board))
    await deadline.run(partial(judge_each, board, services.verdicts), lane)
    if board.unfinished:
        await deadline.run(partial(finish, board, services.verdicts), services.lanes.long)
    answer = VerdictList.of(ruled(board, question.queue, services.policies.now, services.record))
    given = Counter(each.verdict for each in answer.results)
    metrics.count_verdicts(given)
    body = answer.model_dump_json(by_alias=True).encode()
    # What a policy makes of it is put on record each time.
    is_final = board.is_final and question.queue is None
    return remembered(request, body, given) if is_final else Response(body, media_type="application/json")
