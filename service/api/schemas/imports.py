"""What is understood of a config."""

from typing import Literal, Self

from pydantic import Field

from service.api.schemas.base import Answer, Fraction, JobAnswer, RequestBody
from service.api.schemas.findings import DiagnosticAnswer, SourceAnswer
from service.api.schemas.problem import Missing
from service.formats.imported import Imported
from service.formats.source import ConfigSource


class ImportRequest(RequestBody):
    """A config to be read."""

    source: ConfigSource
    """The config as its owner has it."""


class ImportAnswer(Answer):
    """What is understood of a config, and what is not."""

    outcome: Literal["ok", "incomplete", "invalid"] = Field(examples=["ok"])
    """`ok`: an estimate can be made of it; `incomplete`: facts are missing; `invalid`: rules are broken."""
    format: str = Field(examples=["megatron"])
    """The dialect that it was read in; `unknown` when it is in none."""
    confidence: Fraction = Field(examples=[0.98])
    """How sure the detection of the dialect is (0 to 1)."""
    job: JobAnswer | None
    """The canonical job, as far as it is known; null when nothing could be read."""
    sources: dict[str, SourceAnswer] = Field(examples=[{"/parallelism/tensor": {"from": "flag", "where": "line 12"}}])
    """Where each value of the job came from, by JSON Pointer."""
    missing: list[Missing]
    """Facts that nothing says."""
    diagnostics: list[DiagnosticAnswer]
    """Everything that was found, errors first."""
    unknown: list[str] = Field(examples=[["--my-own-flag"]])
    """Keys and flags that the dialect does not know."""

    @classmethod
    def of(cls, imported: Imported) -> Self:
        """Return the wire form of an import."""
        findings = imported.findings
        return cls(
            outcome=imported.outcome,
            format=imported.format,
            confidence=imported.confidence,
            job=imported.job,
            sources={pointer: SourceAnswer.of(source) for pointer, source in findings.sources.items()},
            missing=[Missing(fact=each.fact, message=each.message) for each in findings.missing],
            diagnostics=[DiagnosticAnswer.of(each) for each in findings.diagnostics],
            unknown=list(imported.unknown),
        )
