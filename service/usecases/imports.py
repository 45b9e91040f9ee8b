"""What is understood of a config, and the job that a question is about, in whichever form it was given."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource
from service.job.diagnostics import Diagnostic, Findings, MissingFact
from service.job.schema import Job
from service.job.validate import check
from service.usecases.errors import RejectedJob

Given = Job | ConfigSource


@dataclass(frozen=True, slots=True)
class Accepted:
    """The job of a question, with what was found while it was read."""

    job: Job
    findings: Findings
    given_as: Literal["job", "source"]

    def rejected(self, findings: Findings) -> RejectedJob:
        """Return the error that has these findings and those of the reading, each once."""
        return RejectedJob(merged(self.findings, findings), self.given_as)


def import_config(source: ConfigSource) -> Imported:
    """Return what is understood of a config, with every rule of its framework that it breaks.

    A config that is invalid or incomplete is an answer like any other.
    """
    imported = import_source(source)
    if imported.job is None:
        return imported
    findings = merged(imported.findings, Findings(check(imported.job)))
    return replace(imported, findings=findings, outcome="invalid" if findings.errors else imported.outcome)


def accept(given: Given) -> Accepted:
    """Return the job of a question. Raises RejectedJob when a source is so unclear that it makes no job."""
    if isinstance(given, Job):
        return Accepted(given, Findings(), "job")
    imported = import_source(given)
    if imported.job is None:
        raise RejectedJob(imported.findings, "source")
    return Accepted(imported.job, imported.findings, "source")


def merged(first: Findings, second: Findings) -> Findings:
    """Return both, each finding once; of two sources the first is closer to the caller."""
    return Findings(
        diagnostics=_once([*first.diagnostics, *second.diagnostics]),
        missing=_once_each([*first.missing, *second.missing]),
        sources={**second.sources, **first.sources},
    )


def _once(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    found: dict[tuple[str, tuple[str, ...]], Diagnostic] = {}
    for each in diagnostics:
        found.setdefault((each.code, tuple(each.fields)), each)
    return sorted(found.values(), key=lambda each: ("error", "warning", "info").index(each.severity))


def _once_each(missing: Sequence[MissingFact]) -> list[MissingFact]:
    found: dict[str, MissingFact] = {}
    for each in missing:
        found.setdefault(each.fact, each)
    return list(found.values())
