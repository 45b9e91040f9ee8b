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
    none when there is no command. `script` is what the command stands in, for dialects that read scripts themselves.
    `processes` is where the world size comes from, when the caller did not give it; `world_size` is the number, which
    also stands when no dialect can read the command; `opaque` says so then. `opened` and `open_facts` are about the
    command in its script; a dialect that reads the script finds them itself.
    """

    sources: Sequence[ConfigSource]
    script: ConfigSource
    world_size: int | None = None
    processes: Source | None = None
    diagnostics: Sequence[Diagnostic] = ()
    missing: Sequence[MissingFact] = ()
    opened: Sequence[Diagnostic] = ()
    open_facts: Sequence[MissingFact] = ()
    opaque: Sequence[Diagnostic] = ()

    def around(self, inner: Imported, *, read_script: bool) -> Imported:
        """The inner import with what is known around it; what the wrapper says comes first."""
        sources = dict(inner.findings.sources)
        counted_here = not read_script or self.script.world_size is not None
        if self.processes is not None and _WORLD in sources and counted_here:
            sources[_WORLD] = self.processes
        opened, open_facts = ((), ()) if read_script else (self.opened, self.open_facts)
        diagnostics = _once((*self.diagnostics, *opened, *inner.findings.diagnostics))
        known = inner.job is not None and inner.job.world_size is not None
        missing = {
            each.fact: each
            for each in (*inner.findings.missing, *open_facts, *self.missing)
            if not (known and each.fact == "world_size")
        }
        findings = Findings(diagnostics, tuple(missing.values()), sources)
        return replace(inner, findings=findings, outcome=_outcome(findings, inner.job))

    def alone(self, format_: str, confidence: float) -> Imported:
        """The answer when no dialect can read the command: the size of the job, if that is known."""
        facts = {each.fact: each for each in (*self.open_facts, *self.missing)}
        if self.world_size is not None:
            facts.pop("world_size", None)
        missing = tuple(facts.values())
        diagnostics = _once((*self.diagnostics, *self.opened, *self.opaque))
        if self.world_size is None:
            findings = Findings(diagnostics, missing)
            return Imported(_outcome(findings, None), format_, confidence, None, findings)
        job = Job(model=ModelSection(), framework=FrameworkSection(name="ddp"), world_size=self.world_size)
        sources = {
            "/framework/name": Source("assumed", "several processes and no known training program"),
            _WORLD: self.processes or Source("given", "source.world_size"),
        }
        findings = Findings(diagnostics, missing, sources)
        return Imported(_outcome(findings, job), format_, confidence, job, findings)


def _once(diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each finding once; a file that the wrapper misses and its dialect too is one finding."""
    found: dict[object, Diagnostic] = {}
    for each in diagnostics:
        found.setdefault((each.code, each.found if each.code == "missing_file" else each.message), each)
    return tuple(found.values())


def _outcome(findings: Findings, job: Job | None) -> Outcome:
    if findings.errors:
        return "invalid"
    return "incomplete" if findings.missing or job is None else "ok"
