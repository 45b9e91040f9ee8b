"""Residuals of the calculator on measured runs, as shipped with this method version.

`residuals.jsonl` is made from the measured runs of the repository by `make accuracy`; a test recomputes it, so that it
is never older than the calculator.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

Kind = Literal["allocated", "reserved", "device"]
Version = Literal["own", "other"]


@dataclass(frozen=True, slots=True)
class Likeness:
    """What decides how far a prediction may be off: the profile, what the job leaves open, and the kind of bytes.

    `version` is `own` where the job states the version whose source the profile was read from, and `attention` is
    `automatic` where the framework picks the kernel as it runs.
    """

    framework: str
    implementation: str
    version: Version
    attention: Literal["stated", "automatic"]
    kind: Kind

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the groups that hold such runs, from every run to the most alike."""
        framework = f"{self.framework}, {self.kind} bytes"
        implementation = f"{self.framework} ({self.implementation}), {self.kind} bytes"
        attention = f"{implementation}, {self.attention} attention"
        version = f"{attention}, {'the' if self.version == 'own' else 'not the'} profile's version"
        return (EVERY_RUN, framework, implementation, attention, version)


EVERY_RUN = "every measured run"


@dataclass(frozen=True, slots=True)
class Residual:
    """One measured run: measured over predicted bytes of the kind that it reports.

    `weight` is the inverse of the number of runs of the family that share the prediction: published runs repeat.
    """

    likeness: Likeness
    family: str
    predicted_bytes: int
    ratio: float
    weight: float

    @property
    def fold(self) -> tuple[str, int]:
        """Runs that are left out together: a family, or where all are of the version that was read, a prediction.

        A profile's own version is that of few sources, so that without them nothing would be left to learn from.
        """
        return (self.family, self.predicted_bytes if self.likeness.version == "own" else 0)


@cache
def load_residuals() -> Sequence[Residual]:
    """All residuals, in file order."""
    text = files("service.calibration").joinpath("residuals.jsonl").read_text("utf-8")
    return tuple(_residual(**json.loads(line)) for line in text.splitlines())


def _residual(*, family: str, predicted_bytes: int, ratio: float, weight: float, **likeness: str) -> Residual:
    return Residual(Likeness(**likeness), family, predicted_bytes, ratio, weight)  # type: ignore[arg-type]
