"""From a script to the command that trains: launcher, arguments, config files, and how many processes run."""

import re
import shlex
from collections.abc import Mapping

from service.formats import clues
from service.formats.opened import open_command
from service.formats.source import ConfigSource
from service.formats.syntax import slurm
from service.formats.syntax.batch import batch_findings, unstated_nodes
from service.formats.syntax.commands import launch_of, training_command
from service.formats.syntax.launch import Processes, count_processes
from service.formats.syntax.shell import Script, read_script
from service.formats.syntax.shell.state import first
from service.formats.syntax.words import Word
from service.formats.wrapped import Wrapped

# A first line or a directive says that it is a script; a dialect that reads scripts may be surer by what is in it.
_CERTAIN = 0.93
_PROGRAMS = (
    "torchrun", "accelerate", "deepspeed", "srun", "mpirun", "mpiexec", "ray", "tune", "axolotl", "llamafactory-cli",
    "litgpt", "python",
)  # fmt: skip
_DIRECTIVE = re.compile(r"^[ \t]*#SBATCH\b", re.MULTILINE)
_LAUNCH = re.compile(
    r"^([ \t]*)(?:\w+=\S*[ \t]+)*(?:exec[ \t]+|time[ \t]+|nohup[ \t]+|uv run[ \t]+)?(?:[\w./${}-]*/)?"
    r"(?:torchrun|accelerate[ \t]+launch|deepspeed|srun|mpirun|mpiexec|ray[ \t]+job[ \t]+submit|tune[ \t]+run|"
    r"(?:axolotl|llamafactory-cli|litgpt)[ \t]+\w+|python[\d.]*[ \t]+(?:-u[ \t]+)?(?:-m[ \t]+[\w.]+|\S+\.py))"
    r"(?![ \t]*[:=])(?=[ \t\\]|$)",
    re.MULTILINE,
)


def recognise(source: ConfigSource) -> float:
    """How sure it is that the text is a script that starts something."""
    text = clues.head(source)
    if not text:
        return 0.5 if source.argv and _LAUNCH.match(clues.words(source)) else 0.0
    if is_script(source):
        return _CERTAIN
    return 0.6 if clues.holds_any(text, _PROGRAMS) and _LAUNCH.search(text) else 0.0


def is_script(source: ConfigSource) -> bool:
    """Whether the text can be nothing but a script."""
    text = clues.head(source)
    return text.startswith("#!") or ("#SBATCH" in text and _DIRECTIVE.search(text) is not None)


def holds_command(source: ConfigSource) -> bool:
    """Whether a line of the text starts a program, where no file of values can have such a line."""
    text = clues.head(source)
    return clues.holds_any(text, _PROGRAMS) and "" in _LAUNCH.findall(text)


def unwrap(source: ConfigSource) -> Wrapped:
    """The command in a script, or in an argument list, with what surrounds it."""
    batch = slurm.directives(source.text or "")
    script = _read(source, batch)
    notes = unstated_nodes(batch, source.world_size)
    command = training_command(script)
    processes = Processes(None)
    if command is not None:
        launch = launch_of(command, script.holes)
        processes = count_processes(launch, batch, lambda name: first(script.variables.get(name)), script.holes)
        notes += batch_findings(batch, launch, script.holes)
    return open_command(source, script, command, processes, notes)


def _read(source: ConfigSource, batch: Mapping[str, Word]) -> Script:
    if source.text is None or not source.text.strip():
        return read_script(shlex.join(source.argv), env=source.env, files=source.files)
    env = {**slurm.variables(batch), **source.env}
    return read_script(source.text, env=env, argv=source.argv, files=source.files)
