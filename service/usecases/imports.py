"""What is understood of a config, and the job that a question is about, in whichever form it was given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import ValidationError

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource
from service.job.diagnostics import Diagnostic, Findings, MissingFact, Source
from service.job.schema import Job
from service.job.validate import check
from service.usecases.errors import RejectedJob
from service.usecases.faults import faults_of
from service.usecases.schema_tree import SchemaTree

Given = Job | ConfigSource
# Each follows from the other.
_STEP = frozenset({"/batch/global", "/batch/accumulation"})


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
    # A rule that a default breaks says nothing while the value that was written could not be read.
    unread = imported.unread | (_STEP if imported.unread & _STEP else set())
    broken = [each for each in check(imported.job) if unread.isdisjoint(each.fields)]
    findings = merged(imported.findings, Findings(broken))
    return replace(imported, findings=findings, outcome="invalid" if findings.errors else imported.outcome)


def accept(given: Given, changes: Mapping[str, Any] | None = None) -> Accepted:
    """Return the job of a question, with values that the caller states besides, by JSON Pointer.

    Raises RejectedJob when a source is so unclear that it makes no job, or when a change is not one of a job.
    """
    if isinstance(given, Job):
        return _changed(Accepted(given, Findings(), "job"), changes or {})
    imported = import_source(given)
    if imported.job is None:
        raise RejectedJob(imported.findings, "source")
    return _changed(Accepted(imported.job, imported.findings, "source"), changes or {})


def _changed(accepted: Accepted, changes: Mapping[str, Any]) -> Accepted:
    """The job with the changes, which also answer what was missing."""
    if not changes:
        return accepted
    document = accepted.job.model_dump(by_alias=True, exclude_none=True)
    for pointer, value in changes.items():
        *parents, leaf = pointer.strip("/").split("/")
        node = document
        for part in parents:
            node = node.setdefault(part, {})
        node[leaf] = value
    try:
        job = Job.model_validate(document)
    except ValidationError as error:
        raise RejectedJob(Findings(_unfit(error, document)), accepted.given_as) from None
    stated = {pointer.rpartition("/")[2] for pointer in changes}
    missing = [each for each in accepted.findings.missing if each.fact not in stated]
    sources = {**accepted.findings.sources, **dict.fromkeys(changes, Source("given"))}
    return replace(accepted, job=job, findings=Findings(accepted.findings.diagnostics, missing, sources))


def _unfit(error: ValidationError, document: Any) -> list[Diagnostic]:
    schema = Job.model_json_schema()
    details: list[Any] = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
    faults = faults_of(details, document, {"body": SchemaTree(schema, schema["$defs"])})
    return [
        Diagnostic(each.code, "error", f"{each.pointer} {each.message}", (each.pointer,), rule=each.fix)
        for each in faults
    ]


def merged(first: Findings, second: Findings) -> Findings:
    """Return both, each finding once; of two sources the first is closer to the caller.

    A rule that a reader and the validation both find on the same fields is one finding. Within one list all stay:
    several files may be missing, and several variables hide the same value.
    """
    known = {(each.code, tuple(each.fields)) for each in first.diagnostics}
    further = [each for each in second.diagnostics if (each.code, tuple(each.fields)) not in known]
    every = [*first.diagnostics, *further]
    once = [each for index, each in enumerate(every) if each not in every[:index]]
    return Findings(
        diagnostics=sorted(once, key=lambda each: ("error", "warning", "info").index(each.severity)),
        missing=_once_each([*first.missing, *second.missing]),
        sources={**second.sources, **first.sources},
    )


def _once_each(missing: Sequence[MissingFact]) -> list[MissingFact]:
    found: dict[str, MissingFact] = {}
    for each in missing:
        found.setdefault(each.fact, each)
    return list(found.values())
