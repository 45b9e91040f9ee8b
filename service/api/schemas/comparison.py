"""Plans and jobs on targets, side by side."""

from datetime import datetime
from typing import Any, Self

from pydantic import Field

from service.api.schemas.base import Answer, Seconds, SignedBytes
from service.api.schemas.verdict import VerdictBody
from service.store.comparisons import StoredComparisonSummary
from service.store.paging import Page
from service.usecases.comparisons import Cell, Comparison, Winner
from service.usecases.comparisons import ComparisonAnswer as Compared
from service.usecases.differences import Difference

_ID = Field(examples=["cmp_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])
_DIGEST = Field(examples=["sha256:6d1e6a63c0a5d6f7c4b1cf5e7b8a4bb4f8a4f2a4b0e6c8d2a1f3e5d7c9b0a1f2"])
_SIDE = Field(ge=0, examples=[0])
_TARGET = Field(ge=0, examples=[1])


class CellAnswer(VerdictBody):
    """One side on one target: a verdict, and how fast it would be."""

    side: int = _SIDE
    """Which side, from 0: the plans first, then the items."""
    target: int = _TARGET
    """Which target, from 0; 0 for a plan on its own cluster."""
    step_seconds: Seconds | None = Field(examples=[9.81])
    """Time of an optimizer step (seconds); null where it cannot be computed."""
    gpu_hours: float | None = Field(ge=0, examples=[61.4])
    """GPU-hours for a billion tokens; null where they cannot be computed."""

    @classmethod
    def of(cls, cell: Cell) -> Self:
        """Return the wire form of a cell."""
        return cls(
            side=cell.side,
            target=cell.target,
            step_seconds=cell.step_seconds,
            gpu_hours=cell.gpu_hours,
            **cls.fields_of(cell.answer),
        )


class ValueAnswer(Answer):
    """A side's value of a field."""

    side: int = _SIDE
    """Which side, from 0."""
    value: Any = Field(examples=[8])
    """Its value; null where it has none."""
    effect_bytes: SignedBytes | None = Field(examples=[-1073741824])
    """What this value alone does to the peak of the first side's job on its first target (bytes). Where it is valid
    only with the other differences of its section, what all of these do; null where the job is not valid even so."""


class DifferenceAnswer(Answer):
    """A field that is not the same on all sides."""

    pointer: str = Field(examples=["/parallelism/tensor"])
    """JSON Pointer into the job with every default written out."""
    values: list[ValueAnswer]
    """The value of every side that could be read."""

    @classmethod
    def of(cls, found: Difference) -> Self:
        """Return the wire form of a difference."""
        return cls(
            pointer=found.pointer,
            values=[
                ValueAnswer(side=each.side, value=each.value, effect_bytes=each.effect_bytes) for each in found.values
            ],
        )


class WinnerAnswer(Answer):
    """The best cell by one objective."""

    side: int = _SIDE
    """Which side, from 0."""
    target: int = _TARGET
    """Which target, from 0."""
    value: float = Field(examples=[9.81])
    """Its value: seconds, bytes or GPU-hours for a billion tokens."""

    @classmethod
    def of(cls, found: Winner) -> Self:
        """Return the wire form of a winner."""
        return cls(side=found.side, target=found.target, value=found.value)


class WinnersAnswer(Answer):
    """The best cells among those that fit, or else among those that fit tightly; null where there is none."""

    step_time: WinnerAnswer | None
    """Least time of an optimizer step."""
    margin: WinnerAnswer | None
    """Most usable memory left."""
    gpu_hours: WinnerAnswer | None
    """Fewest GPU-hours for a billion tokens."""


class ComparisonSummary(Answer):
    """A stored comparison as lists show it."""

    id: str = _ID
    """Id of the comparison; ids sort by the time they were made."""
    digest: str = _DIGEST
    """SHA-256 of the canonical question and the method: the same question finds this comparison."""
    created_at: datetime = Field(examples=["2026-11-29T19:00:00Z"])
    """When it was stored (UTC)."""
    sides: int = Field(ge=1, examples=[2])
    """How many plans and jobs are compared."""
    targets: int = Field(ge=1, examples=[1])
    """On how many targets."""
    method_version: str = Field(examples=["1"])
    """Version of the memory model that made it."""

    @classmethod
    def of(cls, stored: StoredComparisonSummary) -> Self:
        """Return the wire form of a comparison's summary."""
        fields: dict[str, Any] = {name: getattr(stored, name) for name in ComparisonSummary.model_fields}
        return cls(**fields)


class ComparisonResult(Answer):
    """Plans and jobs on targets, side by side."""

    sides: list[str] = Field(examples=[["pln_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d", "8-way tensor"]])
    """Names of the sides: ids of plans, then labels of items."""
    matrix: list[list[CellAnswer]]
    """Every side on every target: one list for each side."""
    differences: list[DifferenceAnswer]
    """Fields that differ between the sides."""
    winners: WinnersAnswer
    """The best cell by each objective."""

    @classmethod
    def of_answer(cls, answer: Compared, **further: Any) -> Self:
        """Return the wire form of an answer, with the further fields of a subclass."""
        winners: dict[str, WinnerAnswer | None] = dict.fromkeys(WinnersAnswer.model_fields)
        winners.update((objective, WinnerAnswer.of(found)) for objective, found in answer.winners.items())
        return cls(
            sides=list(answer.labels),
            matrix=[
                [CellAnswer.of(cell) for cell in answer.cells if cell.side == number]
                for number in range(len(answer.labels))
            ],
            differences=[DifferenceAnswer.of(each) for each in answer.differences],
            winners=WinnersAnswer(**winners),
            **further,
        )


class ComparisonAnswer(ComparisonResult):
    """A stored comparison."""

    id: str = _ID
    """Id of the comparison; ids sort by the time they were made."""
    digest: str = _DIGEST
    """SHA-256 of the canonical question and the method: the same question finds this comparison."""
    created_at: datetime = Field(examples=["2026-11-29T19:00:00Z"])
    """When it was stored (UTC)."""
    method_version: str = Field(examples=["1"])
    """Version of the memory model that made it."""

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        """Return the wire form of a stored comparison."""
        stored = comparison.summary
        return cls.of_answer(
            comparison.answer,
            id=stored.id,
            digest=stored.digest,
            created_at=stored.created_at,
            method_version=stored.method_version,
        )


class ComparisonList(Answer):
    """Some comparisons of a list, newest first."""

    items: list[ComparisonSummary]
    """The comparisons of this page."""
    next_cursor: str | None = Field(examples=["AAZEhl9vYAABmtDxxrV8DopfPSscCp6N"])
    """Where the next page begins, for the query parameter `cursor`; null on the last page."""

    @classmethod
    def of(cls, page: Page[StoredComparisonSummary]) -> Self:
        """Return the wire form of a page."""
        return cls(items=[ComparisonSummary.of(each) for each in page.items], next_cursor=page.next_cursor)
