"""What a batch script or a manifest holds: a command for some dialect, and what is known around it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.formats.imported import Imported, Outcome
from service.formats.source import ConfigSource
from service.job.diagnostics import Diagnostic, Findings, MissingFact, Source
from service.job.schema import FrameworkSection, Job, ModelSection

_WORLD = "/world_size"


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A command taken out of what starts it.

    `sources` are the ways in which a dialect may be given it, the same command with one or another of its config files;
    none when there is no command. `processes` is where their world size comes from, when the caller did not give it;
    `world_size` is the number, which also stands when no dialect can read the command; `opaque` says so then.
    """

    sources: Sequence[ConfigSource]
    world_size: int | None = None
    processes: Source | None = None
    diagnostics: Sequence[Diagnostic] = ()
    missing: Sequence[MissingFact] = ()
    opaque: Sequence[Diagnostic] = ()

    def around(self, inner: Imported) -> Imported:
        """The inner import with what is known around it; what the wrapper says comes first."""
        sources = dict(inner.findings.sources)
        if self.processes is not None and _WORLD in sources:
            sources[_WORLD] = self.processes
        diagnostics = _once((*self.diagnostics, *inner.findings.diagnostics))
        known = inner.job is not None and inner.job.world_size is not None
        missing = {
            each.fact: each
            for each in (*inner.findings.missing, *self.missing)
            if not (known and each.fact == "world_size")
        }
        findings = Findings(diagnostics, tuple(missing.values()), sources)
        return replace(inner, findings=findings, outcome=_outcome(findings, inner.job))

    def alone(self, format_: str, confidence: float, inside: Imported | None = None) -> Imported:
        """The answer when no dialect can read the command: the size of the job, if that is known.

        `inside` is the answer of a wrapper within this one, which could not be read either.
        """
        found = inside.findings if inside else Findings()
        facts = {each.fact: each for each in (*found.missing, *self.missing)}
        if self.world_size is not None:
            facts.pop("world_size", None)
        missing = tuple(facts.values())
        opaque = () if any(each.code == "missing_file" for each in found.diagnostics) else self.opaque
        said = {each.code for each in self.opaque}
        inner = [each for each in found.diagnostics if each.code not in said]
        diagnostics = _once((*self.diagnostics, *inner, *opaque))
        if self.world_size is None:
            return Imported("invalid", format_, confidence, None, Findings(diagnostics, missing))
        job = Job(model=ModelSection(), framework=FrameworkSection(name="ddp"), world_size=self.world_size)
        sources = {
            "/framework/name": Source("assumed", "several processes and no known training program"),
            _WORLD: self.processes or Source("given", "source.world_size"),
        }
        findings = Findings(diagnostics, missing, sources)
        return Imported(_outcome(findings, job), format_, confidence, job, findings)


def _once(diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(each for index, each in enumerate(diagnostics) if each not in diagnostics[:index])


def _outcome(findings: Findings, job: Job | None) -> Outcome:
    if findings.errors:
        return "invalid"
    return "incomplete" if findings.missing or job is None else "ok"
