"""clients/python knows what the service answers now."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from memplan_client import errors
from memplan_client.errors import ProblemError
from service.api.catalogue import KINDS, Kind

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_every_code_has_a_class_below_that_of_its_status(kind: Kind) -> None:
    named = getattr(errors, "".join(word.capitalize() for word in kind.code.split("_")))
    family = ProblemError.by_status[int(kind.status)]
    assert issubclass(named, family)
    assert ProblemError.by_code.get(kind.code, family) is named


def test_no_class_is_for_a_code_that_is_gone() -> None:
    assert ProblemError.by_code.keys() <= {kind.code for kind in KINDS}


def test_the_generated_part_is_from_the_document_of_now() -> None:
    command = [sys.executable, "-m", "service.api"]
    document = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    written = (ROOT / "clients/python/openapi.sha256").read_text().strip()
    assert sha256(document).hexdigest() == written, "the OpenAPI document has changed: run `make client`"
