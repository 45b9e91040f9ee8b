"""From a source to the arguments of the training program, whatever form they come in.

A launch script, a list of flags, the dump that a run prints, or a YAML file of arguments.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from service.formats import clues
from service.formats.config.templates import filled
from service.formats.megatron.primus import supplied_model, trainer_module
from service.formats.megatron.vocabulary import DISTINCTIVE, arity, is_known
from service.formats.source import ConfigSource
from service.formats.syntax import slurm
from service.formats.syntax.argv import Argument, is_flag, normalized, parse_arguments
from service.formats.syntax.batch import batch_findings, unstated_nodes
from service.formats.syntax.documents import DocumentFault, read_yaml
from service.formats.syntax.launch import Launch, Processes, count_processes, split_launch
from service.formats.syntax.shell import Command, Script, read_script
from service.formats.syntax.shell.state import elements, first
from service.formats.syntax.words import Hole, Holes, Word
from service.job.diagnostics import Diagnostic, Origin

_DUMPED = re.compile(r"^.*?\b([a-z][a-z0-9_]*) \.{3,} ?(.*)$", re.MULTILINE)
_FEWEST_DUMPED = 5
_PLACEHOLDER = re.compile(r"\$\{(\w+)(?::-?([^}]*))?\}|\$(\w+)")
# Keys that a YAML file of arguments holds and a Hugging Face config does not.
_YAML_ONLY = DISTINCTIVE - {"hidden_size", "num_attention_heads", "max_position_embeddings"}
_PRINTING = frozenset({"echo", "printf", "cat", "tee", "logger"})
# Settings that are on by default under another name than the flag that turns them off.
_OFF = {
    "add_bias_linear": "disable_bias_linear",
    "add_position_embedding": "no_position_embedding",
    "apply_rope_fusion": "no_rope_fusion",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """The arguments of one training program and what is known of its launch."""

    arguments: Sequence[Argument] = ()
    loose: Sequence[Word] = ()
    words: Sequence[Word] = ()
    holes: Holes = field(default_factory=Holes)
    origin: Origin = "flag"
    launch: Launch = field(default_factory=lambda: Launch((), "", ()))
    processes: Processes = field(default_factory=lambda: Processes(None))
    missing_files: Mapping[str, str] = field(default_factory=dict)
    heredocs: Mapping[str, str] = field(default_factory=dict)
    variables: Callable[[str], Word | None] = lambda _name: None
    diagnostics: Sequence[Diagnostic] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    written: bool = True
    """Whether a person wrote the keys; a dump also holds what the program derived."""
    model: str = ""
    """A model's file that is only named."""
    base: str | None = None
    """The precision that the files around the arguments set, which come with the launcher."""


def distinctive(source: ConfigSource) -> int:
    """How many different flags or keys of a source only Megatron has."""
    head = clues.head(source)
    flags = {normalized(each) for each in clues.flags(source)} & DISTINCTIVE
    keys = {normalized(each) for each in clues.keys(source)} & _YAML_ONLY
    dumped = {each for each, _ in _DUMPED.findall(head)} & DISTINCTIVE if " ..." in head else set()
    return max(len(flags), len(keys), len(dumped))


def read_arguments(source: ConfigSource) -> Reading:
    """The arguments in a source, in whichever form it holds them."""
    text = source.text
    if text is None or not text.strip():
        return _flags([Word(each, "argv") for each in source.argv])
    dumped = _DUMPED.findall(clues.head(source)) if " ..." in text else []
    if len(dumped) >= _FEWEST_DUMPED:
        return _mapping({name: value for name, value in dumped if value not in {"None", ""}}, source.env, "dump")
    keys = {normalized(each) for each in clues.keys(source)}
    if len(keys & _YAML_ONLY) > 1 and not any(
        is_flag(each.strip()) for each in clues.head(source).splitlines() if ":" not in each
    ):
        return _yaml(text, source)
    return _script(text, source)


def _flags(words: Sequence[Word]) -> Reading:
    """A plain argument list, perhaps with a launcher in front."""
    holes = Holes()
    launch = split_launch(words, holes, is_known)
    parsed = parse_arguments(launch.arguments or words, holes, arity)
    processes = count_processes(launch, {}, lambda _name: None, holes)
    return Reading(parsed.arguments, parsed.loose, words, holes, launch=launch, processes=processes)


def _script(text: str, source: ConfigSource) -> Reading:
    batch = slurm.directives(text)
    env = {**slurm.variables(batch), **source.env}
    script = read_script(text, env=env, argv=source.argv, files=source.files)
    launch, note = _launch(script)
    parsed = parse_arguments(launch.arguments, script.holes, arity)

    def variable(name: str) -> Word | None:
        return first(script.variables.get(name))

    return Reading(
        arguments=parsed.arguments,
        loose=[each for each in parsed.loose if script.holes.only(each.text)],
        words=launch.arguments,
        holes=script.holes,
        launch=launch,
        processes=count_processes(launch, batch, variable, script.holes),
        missing_files=script.missing_files,
        heredocs=script.heredocs,
        variables=variable,
        diagnostics=(*script.diagnostics, *note, *_batch(batch, launch, script.holes, source.world_size)),
        environment={name: word.text for name in ("PYTORCH_CUDA_ALLOC_CONF",) if (word := variable(name)) is not None},
    )


def _batch(options: Mapping[str, Word], launch: Launch, holes: Holes, world_size: int | None) -> list[Diagnostic]:
    return [*unstated_nodes(options, world_size), *batch_findings(options, launch, holes)] if options else []


def _launch(script: Script) -> tuple[Launch, list[Diagnostic]]:
    """The command that passes the most of Megatron's flags; else flags that stand alone or in variables."""
    counted = [(_weight(each), each) for each in script.commands]
    weight, command = max(counted, key=lambda pair: pair[0], default=(0, None))
    if command is None or weight == 0:
        return _launch_without_command(script)
    if is_flag(command.words[0].text):
        words = [word for _, each in counted if is_flag(each.words[0].text) for word in each.words]
        return Launch((), "", words), []
    launch = split_launch((*command.wrappers, *command.words), script.holes, is_known)
    return launch, _conditional(command)


def _weight(command: Command) -> int:
    """How many different flags of Megatron a command passes; the launch itself breaks ties."""
    if command.words[0].text in _PRINTING:
        return 0
    keys = {normalized(each.text.split("=")[0].split()[0]) for each in command.words if is_flag(each.text)}
    known = sum(1 for key in keys if is_known(key))
    holes = sum(1 for each in command.words if "\x00" in each.text)
    launches = any(each.text.endswith(".py") for each in command.words)
    return 2 * known + launches * (1 + holes) if known or launches else 0


def _launch_without_command(script: Script) -> tuple[Launch, list[Diagnostic]]:
    """A file that only sets variables: the flags in them, as if a command passed them."""
    words: list[Word] = []
    for value in script.variables.values():
        pieces = [Word(piece, each.where) for each in elements(value) for piece in each.text.split()]
        if any(is_flag(each.text) and is_known(normalized(each.text.split("=")[0])) for each in pieces):
            words += pieces
    if not words:
        return Launch((), "", ()), []
    note = Diagnostic(
        "no_launch_command", "warning", "no command passes these flags on; they are read as if one did", (), "", ""
    )
    return Launch((), "", words), [note]


def _conditional(command: Command) -> list[Diagnostic]:
    if not command.conditions:
        return []
    condition = " and ".join(command.conditions)
    message = f"{command.where}: the launch depends on {condition}; it is read as if it happened"
    return [Diagnostic("unresolved", "info", message, (), condition)]


def _yaml(text: str, source: ConfigSource) -> Reading:
    try:
        document = read_yaml(text)
    except DocumentFault as fault:
        return Reading(diagnostics=[Diagnostic(fault.code, "error", str(fault))])
    repeated = [
        Diagnostic("duplicate_key", "warning", f"the key {key} is given twice; the last one is used", (), key)
        for key in document.repeated
    ]
    module, named = trainer_module(document.value), ""
    arguments = _argument_section(document.value if module is None else module.get("overrides"))
    if module is not None:
        named = str(filled(module["model"], source.env))
        model = supplied_model(named, source.files)
        arguments = {**(model or {}), **arguments}
        named = "" if model else named
    reading = _mapping(arguments, source.env, "key")
    settings = document.value.get("ENV_VARS") if isinstance(document.value, Mapping) else None
    environment = {str(name): str(value) for name, value in settings.items()} if isinstance(settings, Mapping) else {}
    return Reading(
        reading.arguments,
        holes=reading.holes,
        origin="key",
        diagnostics=repeated,
        environment=environment,
        model=named,
        base="bf16" if module is not None else None,
    )


def _argument_section(value: Any, depth: int = 0) -> Mapping[str, Any]:
    """The mapping that holds the arguments: the one with the most of Megatron's keys, a few levels down at most."""
    if not isinstance(value, Mapping):
        return {}
    below = [_argument_section(each, depth + 1) for each in value.values()] if depth < 4 else []  # noqa: PLR2004
    return max([value, *below], key=lambda each: sum(is_known(normalized(str(key))) for key in each))


def _mapping(values: Mapping[str, Any], env: Mapping[str, str], kind: str) -> Reading:
    """Arguments from keys and values: true is a bare flag, false and null are absent."""
    holes = Holes()
    arguments: list[Argument] = []
    for name, value in values.items():
        key = normalized(str(name))
        where = kind if kind == "dump" else ""
        for resolved, words in _written(key, value, where):
            filled = tuple(Word(_filled(each.text, env, holes), each.where) for each in words)
            arguments.append(Argument(resolved, str(name), filled, where))
    return Reading(arguments, holes=holes, origin="key", written=kind != "dump")


def _written(key: str, value: Any, where: str) -> Iterator[tuple[str, Sequence[Word]]]:
    if value is None or value == "":
        return
    if isinstance(value, bool) or str(value) in {"True", "False", "true", "false"}:
        on = value if isinstance(value, bool) else str(value).lower() == "true"
        # A switch whose default is on has only a flag that turns it off.
        off = _OFF.get(key, f"no_{key}")
        if on and arity(key) in {"none", "unknown"} and not (arity(key) == "unknown" and is_known(off)):
            yield key, ()
        elif not on and is_known(off):
            yield off, ()
        elif on and is_known(off):
            return
        elif on:
            yield key, (Word("true", where),)
        return
    texts = [str(each) for each in value] if isinstance(value, list) else [str(value)]
    yield key, [Word(each, where) for each in texts]


def _filled(text: str, env: Mapping[str, str], holes: Holes) -> str:
    """A value with `${NAME}`, `${NAME:default}` and `$NAME` filled in; what is not given is a hole."""

    def fill(matched: re.Match[str]) -> str:
        name = matched.group(1) or matched.group(3)
        if name in env:
            return env[name]
        if matched.group(2) is not None:
            return matched.group(2)
        return holes.mark(Hole(name, "unset", f"{name} is read from the environment and not given"))

    return _PLACEHOLDER.sub(fill, text.replace("\x00", ""))
