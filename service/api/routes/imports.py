"""What is understood of a config."""

from typing import Annotated

from fastapi import APIRouter, Body

from service.api.access import requires
from service.api.bodies import StrictRoute
from service.api.openapi import BODY_PROBLEMS, problems
from service.api.schemas.examples import IMPORTS
from service.api.schemas.imports import ImportAnswer, ImportRequest
from service.usecases import imports

router = APIRouter(tags=["import"], route_class=StrictRoute)


@router.post("/imports", dependencies=[requires("verdict:read")], responses=problems(*BODY_PROBLEMS))
def create_import(question: Annotated[ImportRequest, Body(openapi_examples=IMPORTS)]) -> ImportAnswer:
    """Read a config into the canonical job: the source of every value, what is missing, and every rule it breaks.

    A config that is invalid or incomplete is an answer like any other. Nothing in it is executed, sourced or fetched,
    and nothing is stored.
    """
    return ImportAnswer.of(imports.import_config(question.source))
