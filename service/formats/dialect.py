"""What every dialect is: a name, a guess whether a source is written in it, and a reader. And what wraps one."""

from collections.abc import Callable
from dataclasses import dataclass

from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.formats.wrapped import Wrapped


@dataclass(frozen=True, slots=True)
class Dialect:
    """One foreign format. `recognise` answers between 0 (certainly not) and 1 (certainly).

    A dialect may also be given a command that a wrapper found. Then `argv` is the whole command, launcher first, as in
    `torchrun --nproc_per_node 8 train.py --job.config_file x.toml`; `text` is the config file that the command names,
    when it is among the files, else None; and `world_size` is set where the launch decides it. A dialect that
    `reads_scripts` is given the script itself instead, because it knows what to do about the places that a script
    leaves open.
    """

    name: str
    recognise: Callable[[ConfigSource], float]
    read: Callable[[ConfigSource, float], Imported]
    reads_scripts: bool = False


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A form that starts a training program of some dialect: a batch script, a manifest."""

    name: str
    recognise: Callable[[ConfigSource], float]
    unwrap: Callable[[ConfigSource], Wrapped]
