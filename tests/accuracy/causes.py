"""The largest causes of error that are left: which rows show each, why, and what measurement would settle it."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.usecases.validation import Comparison
from tests.accuracy.demands import Selects, errors, with_bytes


@dataclass(frozen=True, slots=True)
class Cause:
    """Rows of one file that are off for one reason."""

    name: str
    file: str
    selects: Selects
    why: str
    settled_by: str

    @property
    def rows(self) -> Sequence[Comparison]:
        """The rows that show it."""
        return with_bytes(self.file, self.selects)

    @property
    def errors(self) -> list[float]:
        """Their absolute relative errors, the smallest first."""
        return errors(self.rows)


CAUSES: Sequence[Cause] = ()
