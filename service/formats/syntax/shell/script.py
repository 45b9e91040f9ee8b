"""What reading a shell script yields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.formats.syntax.words import Holes, Word
from service.job.diagnostics import Diagnostic

Value = Word | tuple[Word, ...] | Mapping[str, Word]
"""A variable's value: a scalar, an array of words, or an associative array."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command that the script would run.

    `wrappers` are the words before a `bash -c` that wraps it; `conditions` are the undecided conditions under which it
    would run; `environment` holds the assignments in front of it.
    """

    words: tuple[Word, ...]
    where: str
    wrappers: tuple[Word, ...] = ()
    conditions: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """Commands in order, the variables at the end, and what stood in the way.

    `missing_files` are sourced files that were not supplied, with the line; `heredocs` are files that the script would
    write from here-documents.
    """

    commands: Sequence[Command]
    variables: Mapping[str, Value]
    holes: Holes
    missing_files: Mapping[str, str]
    heredocs: Mapping[str, str]
    diagnostics: Sequence[Diagnostic]
