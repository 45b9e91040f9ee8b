"""What differs between two jobs, in the words of one dialect, ready to be pasted."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.formats.writers.sheet import Option, nested


@dataclass(frozen=True, slots=True)
class Change:
    """One change to a config in its own dialect; `text` can be pasted. `removed` takes the option away."""

    key: str
    value: Any
    removed: bool
    text: str


def _changes(
    before: Sequence[Option],
    after: Sequence[Option],
    write: Callable[[Option, bool], str],
    remove: Callable[[str], str],
) -> list[Change]:
    """Options that are new or have another value, then those that are gone."""
    old = {each.key: each for each in before}
    new = {each.key: each for each in after}
    changed = [
        Change(key, each.value, removed=False, text=write(each, key in old))
        for key, each in new.items()
        if key not in old or old[key].value != each.value
    ]
    return changed + [Change(key, None, removed=True, text=remove(key)) for key in old if key not in new]


def flag_changes(before: Sequence[Option], after: Sequence[Option]) -> list[Change]:
    """Flags to be added to a command, where the last of a repeated one counts, and flags to be taken out."""
    return _changes(before, after, lambda option, _: flag(option), lambda key: f"remove --{key}")


def option_changes(before: Sequence[Option], after: Sequence[Option]) -> list[Change]:
    """The same for options whose names have dots."""
    return _changes(before, after, lambda option, _: dotted_flag(option), lambda key: f"remove --{key}")


def directive_changes(before: Sequence[Option], after: Sequence[Option]) -> list[Change]:
    """Lines of a batch script."""
    return _changes(
        before, after, lambda option, _: f"#SBATCH --{option.key}={option.value}", lambda key: f"remove #SBATCH --{key}"
    )


def dotted_changes(before: Sequence[Option], after: Sequence[Option]) -> list[Change]:
    """Keys of a config file with their new values."""
    return _changes(before, after, lambda option, _: _assignment(option), lambda key: f"remove {key}")


def override_changes(before: Sequence[Option], after: Sequence[Option]) -> list[Change]:
    """Hydra's overrides; a key that the config may lack is forced."""
    return _changes(
        before, after, lambda option, known: ("" if known else "++") + _assignment(option), lambda key: f"~{key}"
    )


def patch(before: Sequence[Option], after: Sequence[Option]) -> list[Change]:
    """Operations of a JSON Patch (RFC 6902); an object that is new is added whole."""
    return list(_operations(nested(before), nested(after), ""))


def _operations(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[Change]:
    for key, value in new.items():
        below = f"{path}/{key}"
        known = old.get(key)
        if isinstance(value, Mapping) and isinstance(known, Mapping):
            yield from _operations(known, value, below)
        elif key not in old or known != value:
            operation = {"op": "replace" if key in old else "add", "path": below, "value": value}
            yield Change(below, value, removed=False, text=json.dumps(operation))
    for key in (each for each in old if each not in new):
        operation = {"op": "remove", "path": f"{path}/{key}"}
        yield Change(f"{path}/{key}", None, removed=True, text=json.dumps(operation))


def flag(option: Option) -> str:
    """A flag with its values, quoted for a shell."""
    if option.value is None:
        return f"--{option.key}"
    values = option.value if isinstance(option.value, (list, tuple)) else [option.value]
    return f"--{option.key} {' '.join(shlex.quote(str(each)) for each in values)}"


def dotted_flag(option: Option) -> str:
    """An option of a command line whose names have dots; a switch that is off has a name of its own."""
    if isinstance(option.value, bool):
        head, _, name = option.key.rpartition(".")
        return f"--{option.key}" if option.value else f"--{head}.no_{name}"
    listed = option.value if isinstance(option.value, (list, tuple)) else [option.value]
    return f"--{option.key}={shlex.quote(','.join(map(str, listed)))}"


def _assignment(option: Option) -> str:
    # Nothing, booleans and lists are JSON's in YAML, TOML and overrides; texts need no quotes there.
    plain = isinstance(option.value, str)
    return f"{option.key}={option.value if plain else json.dumps(option.value)}"
