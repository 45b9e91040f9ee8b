"""From a script to the command that trains: launcher, arguments, config files, and how many processes run."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from service.formats.source import ConfigSource
from service.formats.syntax import slurm
from service.formats.syntax.batch import batch_findings, unstated_nodes
from service.formats.syntax.commands import launch_of, named_files, training_command, without_holes
from service.formats.syntax.launch import Processes, count_processes
from service.formats.syntax.shell import Command, Script, read_script
from service.formats.syntax.shell.state import first
from service.formats.syntax.words import Hole, Word
from service.formats.wrapped import Wrapped
from service.job.diagnostics import Diagnostic, Findings, MissingFact, Source

_NAME = re.compile(r"(?![/\\]|[A-Za-z]:)(?!(.*[/\\])?\.\.([/\\]|$))[^\x00]{1,255}", re.DOTALL)
_NOTHING = Diagnostic("not_training", "error", "no training command was found in the script", rule="a launch command")
_OPAQUE = Diagnostic(
    "no_training_config", "error", "no model or training configuration can be read from the command",
    rule="a command of a known training program",
)  # fmt: skip
# A first line or a directive says that it is a script; a dialect that reads scripts may be surer by what is in it.
_CERTAIN = 0.93
_SCANNED = 256 * 1024
_DIRECTIVE = re.compile(r"^[ \t]*#SBATCH\b", re.MULTILINE)
_LAUNCH = re.compile(
    r"^[ \t]*(?:\w+=\S*[ \t]+)*(?:exec[ \t]+|time[ \t]+|nohup[ \t]+|uv run[ \t]+)?(?:[\w./${}-]*/)?"
    r"(?:torchrun|accelerate[ \t]+launch|deepspeed|srun|mpirun|mpiexec|ray[ \t]+job[ \t]+submit|tune[ \t]+run|"
    r"(?:axolotl|llamafactory-cli|litgpt)[ \t]+\w+|python[\d.]*[ \t]+(?:-u[ \t]+)?(?:-m[ \t]+[\w.]+|\S+\.py))"
    r"(?![ \t]*[:=])(?=[ \t\\]|$)",
    re.MULTILINE,
)


def recognise(source: ConfigSource) -> float:
    """How sure it is that the text is a script that starts something."""
    text = (source.text or "")[:_SCANNED]
    if not text.strip():
        return 0.5 if source.argv and _LAUNCH.match(" ".join(source.argv)) else 0.0
    if _DIRECTIVE.search(text) or text.startswith("#!"):
        return _CERTAIN
    return 0.6 if _LAUNCH.search(text) else 0.0


def is_script(source: ConfigSource) -> bool:
    """Whether the text can be nothing but a script."""
    return bool(source.text) and recognise(source) >= _CERTAIN


def unwrap(source: ConfigSource) -> Wrapped:
    """The command in a script, or in an argument list, with what surrounds it."""
    batch = slurm.directives(source.text or "")
    script = _read(source, batch)
    notes = [*script.diagnostics, *unstated_nodes(batch, source.world_size)]
    missing = [
        MissingFact(PurePosixPath(name).name, f"{where}: the script sources {name}; upload it")
        for name, where in script.missing_files.items()
    ]
    command = training_command(script)
    if command is None:
        return Wrapped((), diagnostics=[*notes, *([] if missing else [_NOTHING])], missing=missing)
    launch = launch_of(command, script.holes)
    processes = count_processes(launch, batch, lambda name: first(script.variables.get(name)), script.holes)
    notes += batch_findings(batch, launch, script.holes)
    return _wrapped(source, script, command, processes, Findings(notes, missing))


def _read(source: ConfigSource, batch: Mapping[str, Word]) -> Script:
    if source.text is None or not source.text.strip():
        return read_script(shlex.join(source.argv), env=source.env, files=source.files)
    env = {**slurm.variables(batch), **source.env}
    return read_script(source.text, env=env, argv=source.argv, files=source.files)


def _wrapped(source: ConfigSource, script: Script, command: Command, processes: Processes, known: Findings) -> Wrapped:
    supplied = {**script.heredocs, **source.files}
    words = (*command.wrappers, *command.words)
    plain, open_ = without_holes(launch_of(command, script.holes), words, script.holes)
    named = named_files(words, supplied)
    notes, missing = list(known.diagnostics), list(known.missing)
    for flag, hole in open_:
        missing.append(MissingFact(hole.name, f"{command.where}: {flag} is {hole.name}: {hole.reason}"))
        notes.append(_unresolved(f"{command.where}: {flag}", hole, ()))
    for each in named:
        if each.supplied is None:
            message = f"{command.where}: the command names {each.name}, which is not supplied"
            fixes = (f"add {PurePosixPath(each.name).name} to source.files",)
            missing.append(MissingFact(PurePosixPath(script.holes.shown(each.name)).name, message))
            notes.append(Diagnostic("missing_file", "warning", message, (), each.name, fixes=fixes))
            notes.append(Diagnostic("referenced_file_missing", "info", message, (), each.name, fixes=fixes))
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
        world_size=size,
        processes=None if source.world_size else _origin(processes),
        diagnostics=notes,
        missing=missing,
        opaque=() if any(each.supplied is None for each in named) else (_NOTHING, _OPAQUE),
    )


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
    fixes = (f"pass env.{hole.name}",) if hole.name.isidentifier() else ()
    return Diagnostic(
        "unresolved", "warning", f"{what}: {hole.name}: {hole.reason}{either}", fields, hole.name, fixes=fixes
    )
