"""The document against the running service: requests made from the document get answers that it describes.

Both kinds are made: those that the document allows, and those that it does not, which must be refused.
"""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.api.serving import served
from tests.api.test_openapi import OPERATIONS


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BaseSchema]:
    folder = tmp_path_factory.mktemp("contract")
    with served(f"sqlite:///{folder / 'memplan.db'}", folder) as address:
        yield schemathesis.openapi.from_url(f"{address}/openapi.json")


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_what_the_document_allows_is_answered_as_it_says(document: BaseSchema, operation_id: str) -> None:
    _check(document, operation_id, GenerationMode.POSITIVE)


@pytest.mark.parametrize(
    "operation_id",
    [
        "create_estimate",
        "create_import",
        "create_comparison",
        "create_observation",
        "create_plan",
        "create_verdicts",
        "list_plans",
    ],
)
def test_what_the_document_does_not_allow_is_refused_as_it_says(document: BaseSchema, operation_id: str) -> None:
    _check(document, operation_id, GenerationMode.NEGATIVE)


def _check(document: BaseSchema, operation_id: str, mode: GenerationMode) -> None:
    method, path = OPERATIONS[operation_id].split()

    @given(case=document[path][method].as_strategy(generation_mode=mode))
    @settings(
        max_examples=12,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def answers(case: schemathesis.Case) -> None:
        # A schema cannot say which devices there are and which layouts a framework takes.
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    answers()
