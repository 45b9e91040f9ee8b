"""Errors of validated rows by group, and why rows were skipped."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from service.calibration.accuracy import FITTING, Accuracy, Confusion, accuracy, confusion
from service.usecases.measured_runs import LABELS, MeasuredRun
from service.usecases.validation import Comparison

UNREAD = "unreadable"

AXES: Mapping[str, Callable[[MeasuredRun], str]] = MappingProxyType(
    {
        "family": lambda run: run.family,
        "framework": lambda run: run.job.framework.name,
        "kind": lambda run: run.measured.kind,
        "device": lambda run: run.device or "not named",
        "grade": lambda run: run.grade or "not graded",
        "source": lambda run: run.source or "not named",
    }
)
"""What rows can be grouped by."""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that share a value: the errors of those with bytes, the verdicts of those with labels."""

    name: str
    rows: int
    skipped: int
    bytes: Accuracy | None
    labels: Confusion | None


def grouped(found: Sequence[Comparison], by: str) -> list[Group]:
    """The rows by one of `AXES`, the largest group first."""
    members: dict[str, list[Comparison]] = defaultdict(list)
    for each in found:
        members[UNREAD if each.run is None else AXES[by](each.run)].append(each)
    groups = [summary(name, rows) for name, rows in members.items()]
    return sorted(groups, key=lambda group: (-group.rows, group.name))


def summary(name: str, found: Sequence[Comparison]) -> Group:
    """All of the rows as one group."""
    compared = [each.compared for each in found if each.compared is not None]
    verdicts = [(each.kind, each.verdict) for each in found if each.kind in LABELS and each.verdict is not None]
    return Group(
        name=name,
        rows=len(found),
        skipped=sum(each.skipped is not None for each in found),
        bytes=accuracy(compared) if compared else None,
        labels=confusion([(str(label), verdict) for label, verdict in verdicts]) if verdicts else None,
    )


def skip_reasons(found: Sequence[Comparison]) -> list[tuple[str, int]]:
    """Why rows were skipped, the most frequent reason first."""
    return Counter(each.skipped for each in found if each.skipped is not None).most_common()


def worst_first(found: Sequence[Comparison]) -> list[Comparison]:
    """The rows with bytes, the largest error first."""
    return sorted((each for each in found if each.compared is not None), key=lambda each: -abs(each.error))


def wrong_labels(found: Sequence[Comparison]) -> list[Comparison]:
    """The labelled rows on whose other side the estimate is, those out of memory first."""
    labelled = [each for each in found if each.kind in LABELS and each.verdict is not None]
    wrong = [each for each in labelled if (each.kind == "fits") != (each.verdict in FITTING)]
    return sorted(wrong, key=lambda each: (each.kind != "oom", each.id))
