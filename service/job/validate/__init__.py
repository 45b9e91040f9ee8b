"""Every rule that a stated job breaks, at once, each with its fields and concrete fixes."""

from service.job.diagnostics import Diagnostic
from service.job.schema import Job
from service.job.validate.numbers import number_findings
from service.job.validate.options import option_findings

__all__ = ["check"]


def check(job: Job) -> list[Diagnostic]:
    """All findings about a job, errors before warnings; a rule that needs an unknown value is skipped.

    Null means unknown here, never a default: a job whose layout is still to be searched passes.
    """
    found = [*number_findings(job), *option_findings(job)]
    return sorted(found, key=lambda each: each.severity != "error")
