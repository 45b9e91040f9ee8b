"""The training command of a script, whatever program it starts, and the config files that it names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from service.formats.syntax.argv import is_flag, normalized
from service.formats.syntax.launch import Launch, split_launch
from service.formats.syntax.shell import Command, Script
from service.formats.syntax.words import Hole, Holes, Word

# Programs that train by themselves, without a Python file in the command.
TRAINERS = frozenset({"tune", "axolotl", "llamafactory-cli", "swift", "nemo", "litgpt"})
_HELPERS = frozenset({
    "apt", "apt-get", "awk", "aws", "cat", "cd", "chmod", "conda", "cp", "curl", "date", "docker", "echo", "enroot",
    "gcloud", "git", "grep", "gsutil", "head", "hostname", "kill", "ln", "logger", "ls", "mamba", "mkdir", "module",
    "mv", "nvidia-smi", "pip", "pip3", "printf", "rm", "rsync", "scontrol", "sed", "sleep", "tar", "tee", "ulimit",
    "wget", "which",
})  # fmt: skip
_CONFIG_NAME = re.compile(r"[\w@%+=:,./{}$ -]{1,250}\.(ya?ml|toml|json)", re.IGNORECASE)
_CONFIG_FLAG = re.compile(r"config|recipe|deepspeed|cfg|conf|yaml|experiment")
_NO_CONFIG_FLAG = re.compile(r"data|dataset|tokenizer|vocab|merge|save|output|hf_config_path")
# Options that decide nothing about memory, so a place left open in them is nobody's question.
_WITHOUT_EFFECT = re.compile(
    r"dir|path|folder|file|name|(^|_)id$|port|addr|endpoint|url|host|log|wandb|report|seed|save|output|data|rank|token|"
    r"cache|ckpt|checkpoint_|resume|load|run|project|lr|learning|tag|user|hub|master|rdzv|backend|steps|iters|epochs"
)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A config file that a command names: as written, and how its text is called among the supplied files."""

    name: str
    where: str
    supplied: str | None = None


def training_command(script: Script) -> Command | None:
    """The command that most looks like the start of a training: launched, with the most to say; None without one."""
    best: tuple[tuple[int, int], Command] | None = None
    for each in script.commands:
        weight = _weight(each, script.holes)
        if weight is not None and (best is None or weight >= best[0]):
            best = (weight, each)
    return best[1] if best else None


def launch_of(command: Command, holes: Holes) -> Launch:
    """The command taken apart into launchers and the script's own arguments."""
    return split_launch((*command.wrappers, *command.words), holes, lambda _key: False)


def named_files(words: Sequence[Word], supplied: Mapping[str, str]) -> list[NamedFile]:
    """The config files that a command names, in order: values of options about configs, and words of their own."""
    found: dict[str, NamedFile] = {}
    flag = ""
    # The configs that verl's programs are given by name come with verl.
    shipped = {"config_name"} if any(each.text.startswith("verl.") for each in words) else set()
    for word in words:
        text, value_flag = word.text, flag
        if is_flag(text):
            spelled, equals, value = text.partition("=")
            flag = normalized(spelled)
            if not equals:
                continue
            text, value_flag = value, flag
        flag = "" if not is_flag(word.text) else flag
        asked = _CONFIG_FLAG.search(value_flag) and not _NO_CONFIG_FLAG.search(value_flag)
        if value_flag not in shipped and (asked or not value_flag) and _CONFIG_NAME.fullmatch(text):
            found.setdefault(text, NamedFile(text, word.where, _among(text, supplied)))
    return list(found.values())


def without_holes(launch: Launch, words: Sequence[Word], holes: Holes) -> tuple[list[str], list[tuple[str, Hole]]]:
    """Plain words of a command, and the holes that matter with the option each belongs to.

    An option whose whole value is left open is taken out, and asked for if it is the script's own and can change
    memory; elsewhere a hole is shown by its name.
    """
    plain: list[str] = []
    asked: list[tuple[str, Hole]] = []
    own = len(words) - len(launch.arguments)
    for index, word in enumerate(words):
        hidden = holes.within(word.text)
        flag = plain[-1] if plain and is_flag(plain[-1]) and "=" not in plain[-1] else ""
        spelled, equals, value = word.text.partition("=")
        if not hidden:
            plain.append(word.text)
            continue
        attached = bool(equals) and holes.only(value) is not None
        option = spelled if attached else flag if holes.only(word.text) else ""
        if not option or (index >= own and _WITHOUT_EFFECT.search(normalized(option))):
            plain.append(holes.shown(word.text))
            continue
        if not attached:
            plain.pop()
        if index >= own:
            asked.append((option, hidden[0]))
    return plain, asked


def _weight(command: Command, holes: Holes) -> tuple[int, int] | None:
    words = (*command.wrappers, *command.words)
    name = PurePosixPath(command.words[0].text).name
    if name in _HELPERS:
        return None
    launch = launch_of(command, holes)
    launched = any(each.program != "python" for each in launch.launchers)
    trains = name in TRAINERS or any(PurePosixPath(each.text).name in TRAINERS for each in words[:8])
    if not launched and not launch.entry and not trains:
        return None
    return 2 * (launched or trains) + bool(launch.entry), len(words)


def _among(name: str, supplied: Mapping[str, str]) -> str | None:
    """How a named file is called among those supplied: by its path, or by its last part."""
    plain = name.removeprefix("./")
    if plain in supplied:
        return plain
    last = PurePosixPath(name).name
    return next((each for each in supplied if PurePosixPath(each).name == last), None)
