"""The training command of a script, made into sources that dialects can read."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from service.calculator import limits
from service.formats.source import ConfigSource
from service.formats.syntax.commands import NamedFile, launch_of, named_files, without_holes
from service.formats.syntax.launch import Processes
from service.formats.syntax.shell import Command, Script
from service.formats.syntax.words import Hole
from service.formats.wrapped import Wrapped
from service.job.diagnostics import Diagnostic, MissingFact, Source

_NAME = re.compile(r"(?![/\\]|[A-Za-z]:)(?!(.*[/\\])?\.\.([/\\]|$))[^\x00]{1,255}", re.DOTALL)
_NOTHING = Diagnostic("not_training", "error", "no training command was found", rule="a launch command")
_OPAQUE = tuple(
    Diagnostic(
        code,
        "error",
        "no model or training configuration can be read from the command",
        rule="a command of a known training program",
    )
    for code in ("not_training", "no_training_config")
)


def open_command(
    source: ConfigSource, script: Script, command: Command | None, processes: Processes, notes: Sequence[Diagnostic]
) -> Wrapped:
    """The command as sources: with each of the config files that it names, and without one.

    `source` is the script; the world size that it gives, if any, overrides `processes`.
    """
    processes, refused = believable(processes)
    notes = [*script.diagnostics, *notes, *refused]
    missing = [
        MissingFact(PurePosixPath(name).name, f"{where}: the script sources {name}; upload it")
        for name, where in script.missing_files.items()
    ]
    if command is None:
        return Wrapped((), source, opened=notes, open_facts=missing, opaque=() if missing else (_NOTHING,))
    supplied = {**script.heredocs, **source.files}
    words = (*command.wrappers, *command.words)
    plain, open_ = without_holes(launch_of(command, script.holes), words, script.holes)
    for flag, hole in open_:
        missing.append(MissingFact(hole.name, f"{command.where}: {flag} is {hole.name}: {hole.reason}"))
        notes.append(_unresolved(f"{command.where}: {flag}", hole, ()))
    named = named_files(words, supplied)
    missing += _missing_files(named, command, script, notes)
    if source.world_size is None:
        missing += _open_processes(processes, notes)
    size = source.world_size or processes.size
    inner = ConfigSource(
        files={name: text for name, text in supplied.items() if _NAME.fullmatch(name)},
        env=source.env,
        argv=plain,
        model=source.model,
        world_size=size,
    )
    texts = [None, *(supplied[each.supplied] for each in named if each.supplied)]
    return Wrapped(
        [inner.model_copy(update={"text": text}) for text in texts],
        source,
        world_size=size,
        processes=None if source.world_size else _origin(processes),
        opened=notes,
        open_facts=missing,
        opaque=() if any(each.supplied is None for each in named) else _OPAQUE,
    )


def believable(processes: Processes) -> tuple[Processes, list[Diagnostic]]:
    """The processes, and their number only if a job can have so many; if not, what is wrong with it."""
    if processes.size is None or 0 < processes.size <= limits.WORLD_SIZE:
        return processes, []
    rule = f"a number from 1 to {limits.WORLD_SIZE}"
    message = f"{processes.where or 'the launch'}: {processes.size} processes are no size of a job"
    refused = Diagnostic("value_type", "error", message, ("/world_size",), str(processes.size)[:60], rule)
    return replace(processes, size=None), [refused]


def _missing_files(
    named: Sequence[NamedFile], command: Command, script: Script, notes: list[Diagnostic]
) -> list[MissingFact]:
    found = []
    for each in named:
        if each.supplied is None:
            message = f"{command.where}: the command names {each.name}, which is not supplied"
            fixes = (f"add {PurePosixPath(each.name).name} to source.files",)
            found.append(MissingFact(PurePosixPath(script.holes.shown(each.name)).name, message))
            notes.append(Diagnostic("missing_file", "warning", message, (), each.name, fixes=fixes))
            notes.append(Diagnostic("referenced_file_missing", "info", message, (), each.name, fixes=fixes))
    return found


def _origin(processes: Processes) -> Source | None:
    if processes.size is None:
        return None
    return Source("assumed" if processes.assumed else "derived", processes.where)


def _open_processes(processes: Processes, notes: list[Diagnostic]) -> list[MissingFact]:
    if processes.size is not None:
        if processes.assumed:
            message = (
                f"the launcher does not say how many processes run; {processes.size} is taken from {processes.where}"
            )
            notes.append(Diagnostic("world_size_assumed", "warning", message, ("/world_size",), str(processes.size)))
        return []
    reasons = dict.fromkeys(f"{each.name} {each.reason}" for each in processes.holes)
    told = " and ".join(reasons) or "neither the launch nor the batch job states the number of processes"
    notes += [_unresolved("the number of processes", each, ("/world_size",)) for each in processes.holes]
    return [MissingFact("world_size", f"{told}; pass world_size")]


def _unresolved(what: str, hole: Hole, fields: Sequence[str]) -> Diagnostic:
    either = f"; it is {' or '.join(hole.alternatives)}" if hole.alternatives else ""
    fixes = (f"pass env.{hole.name}",) if hole.kind != "inert" and hole.name.isidentifier() else ()
    return Diagnostic(
        "unresolved", "warning", f"{what}: {hole.name}: {hole.reason}{either}", fields, hole.name, fixes=fixes
    )
