"""The command that starts a training program beside its config file: launcher, options, overrides, processes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from service.formats.draft import Draft
from service.formats.source import ConfigSource
from service.formats.syntax.argv import Argument, parse_arguments
from service.formats.syntax.launch import Launch, Processes, count_processes, split_launch
from service.formats.syntax.words import Holes, Word

_OVERRIDE = re.compile(r"(\+\+|\+|~)?([A-Za-z_][\w./@-]*)(?:=(.*))?", re.DOTALL)
_LIST = re.compile(r"\[(.*)\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Override:
    """One `a.b=value` of a command line; `sign` is `+`, `++`, `~` or empty."""

    key: str
    value: str | None
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line taken apart. `options` are flags of the script by normalised name, dots kept."""

    launch: Launch = field(default_factory=lambda: Launch((), "", ()))
    options: Mapping[str, Argument] = field(default_factory=dict)
    repeated: Sequence[str] = ()
    overrides: Sequence[Override] = ()
    loose: Sequence[str] = ()
    processes: Processes = field(default_factory=lambda: Processes(None))

    @property
    def launched(self) -> bool:
        """Whether a launcher of several processes starts the script."""
        return any(each.program != "python" for each in self.launch.launchers)

    def document(self) -> dict[str, Any]:
        """The options as a document: a flag without value is true, several values are a list."""
        found: dict[str, Any] = {}
        for key, argument in self.options.items():
            values = [each.text for each in argument.values]
            found[key] = True if not values else values[0] if len(values) == 1 else values
        return found


def read_command(argv: Sequence[str]) -> Command:
    """An argument list taken apart, launcher first; without a launcher or script it is all options."""
    if not argv:
        return Command()
    holes = Holes()
    words = [Word(each.replace("\x00", ""), "argv") for each in argv]
    launch = split_launch(words, holes, lambda _key: False)
    arguments = launch.arguments if launch.entry or launch.launchers else words
    parsed = parse_arguments(arguments, holes, lambda _key: "unknown")
    options: dict[str, Argument] = {}
    repeated: list[str] = []
    for argument in parsed.arguments:
        key = argument.key
        if key in options and options[key].text != argument.text:
            repeated.append(argument.spelled)
        options[key] = argument
    overrides, loose = _overrides(arguments)
    return Command(
        launch=launch,
        options=options,
        repeated=repeated,
        overrides=overrides,
        loose=loose,
        processes=count_processes(launch, {}, lambda _name: None, holes),
    )


def note_repeated(command: Command, draft: Draft) -> None:
    """Notes options that are given twice with different values."""
    for spelled in command.repeated[:10]:
        message = f"{spelled} is given more than once; the last one is used"
        draft.note("repeated_flag", "warning", message, found=spelled, rule="the last of a repeated flag counts")


def write_world_size(command: Command, draft: Draft) -> None:
    """Writes the number of processes that the launcher starts, if the command says it."""
    found = command.processes
    if found.size is not None:
        draft.set("/world_size", found.size, "derived", found.where.replace("argv: ", ""))


def _overrides(words: Sequence[Word]) -> tuple[list[Override], list[str]]:
    """Hydra's `key=value` words; everything else that is no flag is loose."""
    overrides: list[Override] = []
    loose: list[str] = []
    for word in words:
        if word.text.startswith("--"):
            continue
        matched = _OVERRIDE.fullmatch(word.text)
        if matched and (matched.group(3) is not None or matched.group(1) == "~"):
            overrides.append(Override(matched.group(2), matched.group(3), matched.group(1) or ""))
        else:
            loose.append(word.text)
    return overrides, loose


def override_value(text: str | None) -> Any:
    """The value of a hydra override: quotes taken off, `[a,b]` a list, `null` nothing."""
    if text is None:
        return None
    bare = text.strip()
    while len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"":
        bare = bare[1:-1]
    if bare in {"null", "None", "~"}:
        return None
    listed = _LIST.fullmatch(bare)
    if listed:
        return [override_value(each) for each in listed.group(1).split(",") if each.strip()][:1000]
    return bare


def nested(overrides: Sequence[Override]) -> dict[str, Any]:
    """Overrides as a flat document of dotted keys."""
    return {each.key: override_value(each.value) for each in overrides if each.sign != "~"}


def source_text(source: ConfigSource) -> str:
    """The text of a source, empty when it has none."""
    return source.text if source.text and source.text.strip() else ""
