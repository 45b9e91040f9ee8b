"""Residuals of the measured runs of the repository, and the levels at which intervals are cut; made, not written."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from service.calibration.conformal import calibrated_levels, left_out, reached
from service.calibration.interval import Calibration, load_calibration
from service.calibration.residuals import Likeness, Residual, load_residuals
from service.usecases.intervals import likeness_of
from service.usecases.measured_runs import BYTE_KINDS
from service.usecases.validation import Priced, Unpriced, price
from tests.accuracy.runs import CALIBRATING, runs

SHIPPED = Path(__file__).parents[2] / "service" / "calibration"

DIGITS = 6
"""Decimals of a ratio: one part in a million."""


def residuals() -> list[Residual]:
    """Measured over predicted bytes of every run that can be priced, grade C excepted."""
    found = [(each, _likeness(each)) for each in _calibrating()]
    repeated = Counter((each.run.family, likeness, each.predicted_bytes) for each, likeness in found)
    return [
        Residual(
            likeness=likeness,
            family=each.run.family,
            predicted_bytes=each.predicted_bytes,
            ratio=round((each.run.measured.most_bytes or 0) / each.predicted_bytes, DIGITS),
            weight=round(1 / repeated[each.run.family, likeness, each.predicted_bytes], DIGITS),
        )
        for each, likeness in found
    ]


def calibration(found: Sequence[Residual]) -> Calibration:
    """The levels, and what they reach in each group when one family is left out."""
    levels = calibrated_levels(found)
    trials = left_out(found, levels)
    names = sorted({name for each in found for name in each.likeness.levels})
    inside = {name: [each for each in trials if name in each.residual.likeness.levels] for name in names}
    return Calibration(levels, {name: round(reached(members), 3) for name, members in inside.items()})


def left_out_widths() -> list[float]:
    """Widths of the intervals that are made without a run's family, as shares of its prediction."""
    found = load_residuals()
    return [each.high - each.low for each in left_out(found, load_calibration().levels)]


def write() -> None:
    """Write what the service ships with."""
    found = residuals()
    (SHIPPED / "residuals.jsonl").write_text("".join(f"{json.dumps(_flat(each))}\n" for each in found), "utf-8")
    document = json.dumps(asdict(calibration(found)), indent=2)
    (SHIPPED / "calibration.json").write_text(f"{document}\n", "utf-8")


def _calibrating() -> Iterator[Priced]:
    for name in CALIBRATING:
        for run in runs(name):
            if run.measured.kind in BYTE_KINDS and run.grade != "C":
                with suppress(Unpriced):
                    yield price(run)


def _likeness(found: Priced) -> Likeness:
    kind: Any = found.run.measured.kind
    return likeness_of(found.resolved.job, kind)


def _flat(residual: Residual) -> dict[str, Any]:
    document = asdict(residual)
    return {**document.pop("likeness"), **document}


if __name__ == "__main__":
    write()
