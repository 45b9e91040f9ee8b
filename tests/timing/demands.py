"""What is asked of step times, and what is reached."""

from dataclasses import dataclass

from service.calibration.timing import ranking
from tests.timing.runs import LARGE, calibrated, of, ranked


@dataclass(frozen=True, slots=True)
class Demand:
    """A figure that must be at least, or at most, a bound."""

    rows: str
    figure: str
    bound: float
    found: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the figure is on the right side of the bound."""
        return self.found >= self.bound if self.at_least else self.found <= self.bound


SMALL_ERRORS = {"hagemann": 0.10, "bloom": 0.10, "vtrain-multi": 0.16}
"""Mean errors that a few measured steps must reach, by family."""


def demands() -> list[Demand]:
    """Every demand with what was found."""
    found = ranking(ranked(of(LARGE)))
    if found is None:
        raise ValueError("there is no group to rank")
    rows = f"large dense models ({', '.join(LARGE)}), nothing fitted"
    asked = [
        Demand(rows, "pairs in the right order", 0.88, found.pair_accuracy, at_least=True),
        Demand(rows, "rank correlation, median of groups", 0.85, found.correlation, at_least=True),
        Demand(rows, "mean loss of the predicted best", 0.03, found.best_loss),
        Demand(rows, "mean loss of the best of three", 0.005, found.best_of_loss),
    ]
    for steps in (3, 5):
        for family in calibrated(steps):
            if family.name in SMALL_ERRORS:
                figure = f"mean error after {steps} measured steps"
                asked.append(Demand(family.name, figure, SMALL_ERRORS[family.name], family.mean))
    return asked
