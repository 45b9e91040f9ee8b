"""The measured runs of the repository, each beside its prediction."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from service.usecases.measured_runs import MeasuredRun, read_runs
from service.usecases.validation import Comparison, compare

DATA = Path(__file__).parents[1] / "data"

MEGATRON_CI = "jobs_megatron_ci.jsonl"
MEASURED = "jobs_measured.jsonl"
RESERVED = "jobs_reserved.jsonl"
LABELS = "jobs_fit_labels.jsonl"
NANOTRON = "jobs_nanotron.jsonl"

CALIBRATING = (MEGATRON_CI, MEASURED, RESERVED)
"""Files whose bytes make the intervals. The nanotron sweep is left out: it is no framework of the catalogue, and its
kind of bytes and its unit were inferred."""


@cache
def runs(name: str) -> Sequence[MeasuredRun]:
    """Every row of a file of tests/data, in order."""
    with (DATA / name).open("rb") as stream:
        found = read_runs(stream)
    return [each for each in found if isinstance(each, MeasuredRun)]


@cache
def compared(name: str) -> Sequence[Comparison]:
    """Every row of a file of tests/data beside its prediction."""
    return compare(runs(name))
