"""`#SBATCH` lines: options of the batch job, and the variables that Slurm makes of them."""

import re
from collections.abc import Iterator, Mapping

from service.formats.syntax.words import Word

_DIRECTIVE = re.compile(r"^[ \t]*#SBATCH[ \t]+(.*)$", re.MULTILINE)
_TRAILING_COMMENT = re.compile(r"\s+#.*$")
_MOST_DIRECTIVES = 200
_LONGEST_DIRECTIVE = 2_000
_SHORT = {"n": "ntasks", "N": "nodes", "c": "cpus_per_task", "G": "gpus"}
_KIND = re.compile(r"(?:^|,)(?:gpu:)?([A-Za-z][\w.-]*):\d+(?:$|,|\()")
_GPUS = re.compile(r"(?:gpu(?::[\w.-]+)?:|[\w.-]+:)?(\d+)$")
_VARIABLES = {
    "SLURM_NNODES": "nodes",
    "SLURM_JOB_NUM_NODES": "nodes",
    "SLURM_NTASKS": "ntasks",
    "SLURM_NPROCS": "ntasks",
    "SLURM_NTASKS_PER_NODE": "ntasks_per_node",
    "SLURM_CPUS_PER_TASK": "cpus_per_task",
}


def directives(text: str) -> dict[str, Word]:
    """The options of a script's `#SBATCH` lines by normalised name; the last of a repeated one wins, as in Slurm.

    `gpus_per_node` also holds what `--gres=gpu:a100:8` says, `gpu_kind` its `a100`.
    """
    found: dict[str, Word] = {}
    for index, matched in enumerate(_DIRECTIVE.finditer(text)):
        if index >= _MOST_DIRECTIVES:
            break
        line = text.count("\n", 0, matched.start()) + 1
        for name, value in _options(_TRAILING_COMMENT.sub("", matched.group(1)[:_LONGEST_DIRECTIVE])):
            found[name] = Word(value, f"line {line}: #SBATCH --{name.replace('_', '-')}")
    gpus, kind = _gpus_on_a_node(found), _kind(found)
    if gpus is not None:
        found["gpus_per_node"] = gpus
    if kind is not None:
        found["gpu_kind"] = kind
    return found


def variables(options: Mapping[str, Word]) -> dict[str, str]:
    """The environment variables that Slurm sets from these options."""
    found = {name: options[option].text for name, option in _VARIABLES.items() if option in options}
    if "gpus_per_node" in options:
        found["SLURM_GPUS_ON_NODE"] = options["gpus_per_node"].text
        found["SLURM_GPUS_PER_NODE"] = options["gpus_per_node"].text
    return found


def _options(text: str) -> Iterator[tuple[str, str]]:
    """`--nodes=2`, `--nodes 2`, `-N 2` and `-N2`."""
    words = text.split()
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) and not words[index + 1].startswith("-") else ""
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            yield name.replace("-", "_"), value if equals else following
        elif word[:1] == "-" and word[1:2] in _SHORT:
            yield _SHORT[word[1]], word[2:].lstrip("=") or following


def _kind(options: Mapping[str, Word]) -> Word | None:
    """The kind of GPU that is asked for, if one is named."""
    for word in (options[key] for key in ("gres", "gpus_per_node", "gpus", "gpus_per_task") if key in options):
        matched = _KIND.search(word.text)
        if matched is not None and matched.group(1) != "gpu":
            return Word(matched.group(1), word.where)
    return None


def _gpus_on_a_node(options: Mapping[str, Word]) -> Word | None:
    """`8` from `--gpus-per-node=h100:8`, `--gres=gpu:a100:8` or `--gres=gpu:8`; a bare `gpu` is one."""
    for key in ("gpus_per_node", "gres"):
        word = options.get(key)
        parts = word.text.split(",") if word else []
        for part in parts if key == "gpus_per_node" else [each for each in parts if each.startswith("gpu")]:
            matched = _GPUS.match(part)
            if word and (matched or part == "gpu"):
                return Word(matched.group(1) if matched else "1", word.where)
    return None
