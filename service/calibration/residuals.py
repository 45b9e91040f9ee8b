"""Residuals of the calculator on measured runs, as shipped with this method version.

`residuals.jsonl` is made from the measured runs of the repository (`make residuals`); a test recomputes it, so that it
is never older than the calculator.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Residual:
    """One measured run: measured over predicted bytes of the kind that it reports."""

    group: str
    family: str
    kind: str
    ratio: float


@cache
def load_residuals() -> Sequence[Residual]:
    """All residuals, in file order."""
    text = files("service.calibration").joinpath("residuals.jsonl").read_text("utf-8")
    return tuple(Residual(**json.loads(line)) for line in text.splitlines())


def group_of(framework: str, attention: str) -> str:
    """The group whose error a job shares: its framework, and whether the attention kernel is known."""
    return f"{framework}, {'automatic' if attention == 'auto' else 'stated'} attention"
