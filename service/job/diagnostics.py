"""What can be wrong with a job, said once: a code, the fields, the rule, and concrete fixes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from service.calculator.record import record

Severity = Literal["error", "warning", "info"]
Origin = Literal["flag", "key", "environment", "default", "derived", "assumed", "given"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a config.

    `fields` are JSON Pointers into the canonical job (`/parallelism/tensor`); `fixes` are changes that a caller can
    paste. Codes are those of `docs/formats.md`.
    """

    code: str
    severity: Severity
    message: str
    fields: Sequence[str] = ()
    found: str = ""
    rule: str = ""
    fixes: Sequence[str] = ()


@record(frozen=True, slots=True)
class Source:
    """Where a value of the job came from; `where` is a line, flag, key or rule, for people."""

    origin: Origin
    where: str = ""


@dataclass(frozen=True, slots=True)
class MissingFact:
    """A fact that the config does not state and nothing implies; `fact` is the job field's last part."""

    fact: str
    message: str


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything learnt besides the job itself: all problems at once, never the first alone."""

    diagnostics: Sequence[Diagnostic] = ()
    missing: Sequence[MissingFact] = ()
    sources: dict[str, Source] = field(default_factory=dict)

    @property
    def errors(self) -> list[Diagnostic]:
        """Only the findings that make the job invalid."""
        return [each for each in self.diagnostics if each.severity == "error"]
