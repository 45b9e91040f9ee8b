"""The answer of every importer, and the draft that dialects write it in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from service.job.diagnostics import Findings
from service.job.schema import Job

Outcome = Literal["ok", "incomplete", "invalid"]


@dataclass(frozen=True, slots=True)
class Imported:
    """What was understood of a config.

    `job` is what is known so far, None when nothing could be read; `confidence` (0 to 1) says how sure the detection
    of the format is; `unknown` are keys that the dialect does not know; `unread` are fields (JSON Pointers) that the
    config states and nothing could read, so that no default stands for them.
    """

    outcome: Outcome
    format: str
    confidence: float
    job: Job | None
    findings: Findings
    unknown: Sequence[str] = ()
    unread: frozenset[str] = frozenset()
