"""What was found out about a config besides the job itself."""

from typing import Literal, Self

from pydantic import Field

from service.api.schemas.base import Answer
from service.job.diagnostics import Diagnostic, Source


class DiagnosticAnswer(Answer):
    """One finding about a config."""

    code: str = Field(examples=["ignored_option"])
    """Stable name of the rule."""
    severity: Literal["error", "warning", "info"] = Field(examples=["warning"])
    """Only an error makes a job invalid."""
    fields: list[str] = Field(examples=[["/parallelism/sequence"]])
    """JSON Pointers into the canonical job of the fields that the finding is about."""
    found: str = Field(examples=["sequence true, tensor 1"])
    """What was found."""
    rule: str = Field(examples=["sequence parallelism needs tensor > 1"])
    """The rule."""
    message: str = Field(examples=["sequence parallelism has no effect at tensor 1"])
    """The finding, for people."""
    fixes: list[str] = Field(examples=[["parallelism.tensor = 2"]])
    """Changes that would satisfy the rule."""

    @classmethod
    def of(cls, diagnostic: Diagnostic) -> Self:
        """Return the wire form of a diagnostic."""
        return cls(
            code=diagnostic.code,
            severity=diagnostic.severity,
            fields=list(diagnostic.fields),
            found=diagnostic.found,
            rule=diagnostic.rule,
            message=diagnostic.message,
            fixes=list(diagnostic.fixes),
        )


class SourceAnswer(Answer):
    """Where a value came from."""

    from_: Literal["flag", "key", "environment", "default", "derived", "assumed", "given"] = Field(
        serialization_alias="from", validation_alias="from", examples=["flag"]
    )
    """Kind of the source: a command-line flag, a key of a file, an environment variable, the framework's default,
    derived from other values, assumed, or given beside the config."""
    where: str = Field(examples=["line 12"])
    """Line, flag, key or rule, for people."""

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return the wire form of a source."""
        return cls.model_validate({"from": source.origin, "where": source.where})
