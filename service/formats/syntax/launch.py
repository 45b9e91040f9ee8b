"""A command line taken apart: launchers with their options, the script, and the script's own arguments.

`srun -N 2 torchrun --nproc_per_node 8 pretrain.py --num-layers 32`: both parts may carry the same flag, so they are
split at the script or module.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from service.formats.syntax.argv import Argument, is_flag, normalized, parse_arguments
from service.formats.syntax.values import ValueFault, integer
from service.formats.syntax.words import Hole, Holes, Word

_PYTHON = re.compile(r"python[\d.]*")
_TORCHRUN_OPTION = re.compile(r"--(nproc[-_]per[-_]node|nnodes)\b")
_BARE_OPTIONS = frozenset({"standalone", "run_path", "virtual_local_rank"})
_PROGRAMS = {
    "torchrun": "torchrun",
    "torchrun.exe": "torchrun",
    "srun": "srun",
    "mpirun": "mpirun",
    "mpiexec": "mpirun",
    "deepspeed": "deepspeed",
    "accelerate": "accelerate",
    "ft_launcher": "torchrun",
}
_MODULES = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "torch.distributed.elastic.multiprocessing": "torchrun",
    "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
}
_LONG = {"-N": "nodes", "-n": "ntasks", "-np": "ntasks", "--np": "ntasks", "-G": "gpus", "-npernode": "npernode"}
_NODES = ("nnodes", "num_nodes", "nodes", "num_machines")
_PER_NODE = ("nproc_per_node", "num_gpus", "ntasks_per_node", "npernode", "map_by")
_NODE_VARIABLES = ("NNODES", "NUM_NODES", "NNODE", "N_NODES", "NODES", "NUM_NODE", "SLURM_NNODES")
_PER_NODE_VARIABLES = ("GPUS_PER_NODE", "NPROC_PER_NODE", "NUM_GPUS_PER_NODE", "GPU_PER_NODE", "NGPUS_PER_NODE",
                       "NUM_GPUS_PERNODE")  # fmt: skip
_TOTAL_VARIABLES = ("NUM_GPUS", "NGPUS", "N_GPUS", "TOTAL_GPUS", "GPU_NUM")


@dataclass(frozen=True, slots=True)
class Launcher:
    """One launcher in a command, with its options by normalised name."""

    program: str
    options: Mapping[str, Argument]


@dataclass(frozen=True, slots=True)
class Launch:
    """A command line: its launchers from the outside in, the script or module, and the script's arguments."""

    launchers: Sequence[Launcher]
    entry: str
    arguments: Sequence[Word]


@dataclass(frozen=True, slots=True)
class Processes:
    """How many processes a launch starts. `size` is None when that is not known; `holes` are what hides it.

    `assumed` marks a number that only a variable's name suggests.
    """

    size: int | None
    where: str = ""
    holes: Sequence[Hole] = ()
    assumed: bool = False
    nodes: int | None = None


def split_launch(words: Sequence[Word], holes: Holes, known: Callable[[str], bool]) -> Launch:
    """Takes a command apart; without a script in it, the script's arguments start at the first flag that is `known`.

    torchrun's first word that is no option is its script, whatever it is called; and a program of unknown name that is
    given torchrun's options is read as torchrun.
    """
    launchers: list[tuple[str, list[Word]]] = [("", [])]
    index = 0
    while index < len(words):
        name = words[index].text.rsplit("/", 1)[-1]
        program = _program(words, index, launchers)
        if program:
            launchers.append((program, []))
        elif words[index].text in {"-m", "--module"} and index + 1 < len(words):
            index += 1
            module = words[index].text
            if module not in _MODULES:
                return _launch(launchers, module, words[index + 1 :], holes)
            launchers.append((_MODULES[module], []))
        elif name.endswith(".py") or _is_script(words[index], launchers[-1], holes):
            return _launch(launchers, name, words[index + 1 :], holes)
        elif is_flag(words[index].text) and known(normalized(words[index].text.split("=")[0].split()[0])):
            return _launch(launchers, "", words[index:], holes)
        else:
            launchers[-1][1].append(words[index])
        index += 1
    return _launch(launchers, "", (), holes)


def _program(words: Sequence[Word], index: int, launchers: list[tuple[str, list[Word]]]) -> str:
    """The launcher that a word starts, or nothing."""
    name = words[index].text.rsplit("/", 1)[-1]
    if name in _PROGRAMS or _PYTHON.fullmatch(name):
        return _PROGRAMS.get(name, "python")
    following = words[index + 1].text if index + 1 < len(words) else ""
    unnamed = len(launchers) == 1 and not launchers[0][1] and not is_flag(words[index].text)
    return "torchrun" if unnamed and _TORCHRUN_OPTION.match(following) else ""


def _is_script(word: Word, launcher: tuple[str, list[Word]], holes: Holes) -> bool:
    """Whether a word behind torchrun is the script: not an option, and not the value of one."""
    program, before = launcher
    if program != "torchrun" or is_flag(word.text) or holes.within(word.text):
        return False
    last = before[-1].text if before else ""
    if any(normalized(each.text) == "no_python" for each in before) or holes.within(last):
        return False
    return not is_flag(last) or "=" in last or normalized(last) in _BARE_OPTIONS


def _launch(launchers: list[tuple[str, list[Word]]], entry: str, rest: Sequence[Word], holes: Holes) -> Launch:
    named = [Launcher(program, _options(words, holes)) for program, words in launchers if program]
    return Launch(named, entry, rest)


def _options(words: list[Word], holes: Holes) -> dict[str, Argument]:
    found: dict[str, Argument] = {}
    for argument in parse_arguments(words, holes, lambda _key: "one").arguments:
        attached = re.fullmatch(r"(-[nNG])(\d+)", argument.spelled)
        spelled, values = argument.spelled, argument.values
        if attached:
            spelled, values = attached.group(1), (Word(attached.group(2), argument.where),)
        key = _LONG.get(spelled, argument.key)
        found[key] = Argument(key, spelled, values, argument.where)
    return found


@dataclass(slots=True)
class _Counts:
    """Numbers found so far: of nodes, of processes on a node, and of all processes."""

    holes: Holes
    found: dict[str, tuple[int, str]] = field(default_factory=dict)
    hidden: list[Hole] = field(default_factory=list)

    def read(self, kind: str, word: Word | None, where: str) -> None:
        """Takes a number from a word; a hole or `auto` is remembered as what hides it."""
        if word is None or kind in self.found:
            return
        holes = self.holes.within(word.text)
        # The elastic form `1:4` may grow to its last number.
        text = word.text.rsplit(":", 1)[-1]
        try:
            self.found[kind] = (integer(text), where)
        except ValueFault:
            self.hidden += holes or [Hole(word.text, "inert", "is settled when the job starts", where)]

    def product(self, *, assumed: bool = False) -> Processes | None:
        """All processes, when the numbers suffice."""
        nodes = self.found.get("nodes")
        if "total" in self.found:
            size, where = self.found["total"]
            return Processes(size, where, assumed=assumed, nodes=nodes[0] if nodes else None)
        if nodes is None or "per_node" not in self.found:
            return None
        each, where = self.found["per_node"]
        places = " x ".join(dict.fromkeys(each for each in (nodes[1], where) if each))
        return Processes(nodes[0] * each, places, assumed=assumed, nodes=nodes[0])


def count_processes(
    launch: Launch, batch: Mapping[str, Word], variables: Callable[[str], Word | None], holes: Holes
) -> Processes:
    """The number of processes from the launcher, else from the batch job's options, else from well-known variables.

    `batch` are `#SBATCH` options, `variables` looks a shell variable up.
    """
    counts = _Counts(holes)
    inner = next((each for each in reversed(launch.launchers) if each.program != "python"), None)
    if inner is not None:
        _from_launcher(inner, counts)
    if inner is None or inner.program in {"srun", "mpirun"}:
        counts.read("total", batch.get("ntasks"), _where(batch.get("ntasks")))
        counts.read("nodes", batch.get("nodes"), _where(batch.get("nodes")))
        counts.read("per_node", batch.get("ntasks_per_node"), _where(batch.get("ntasks_per_node")))
    return counts.product() or _from_variables(counts, batch, variables)


def _from_launcher(launcher: Launcher, counts: _Counts) -> None:
    def read(kind: str, keys: Sequence[str]) -> None:
        for key in keys:
            argument = launcher.options.get(key)
            if argument is not None and argument.values:
                counts.read(kind, argument.values[0], f"{argument.where}: {argument.spelled}")

    if launcher.program in {"srun", "mpirun"}:
        read("total", ("ntasks",))
    elif launcher.program == "accelerate":
        read("total", ("num_processes",))
    read("per_node", _PER_NODE)
    read("nodes", _NODES)
    if launcher.program in {"torchrun", "deepspeed"} and "per_node" in counts.found and not counts.hidden:
        counts.found.setdefault("nodes", (1, f"{launcher.program} runs on one node unless told otherwise"))


def _from_variables(counts: _Counts, batch: Mapping[str, Word], variables: Callable[[str], Word | None]) -> Processes:
    """`WORLD_SIZE`, or nodes times GPUs on a node from the names that scripts use; else a guess that says so."""
    world = variables("WORLD_SIZE")
    counts.read("total", world, "WORLD_SIZE")
    for name in _NODE_VARIABLES:
        counts.read("nodes", variables(name), name)
    counts.read("nodes", batch.get("nodes"), _where(batch.get("nodes")))
    for name in _PER_NODE_VARIABLES:
        counts.read("per_node", variables(name), name)
    counts.read("per_node", batch.get("gpus_per_node"), _where(batch.get("gpus_per_node")))
    known = counts.product()
    if known is not None:
        return known
    # A launcher that takes none of them may run elsewhere; by what a script calls them is all that it says.
    for kind, names in (("nodes", _NODE_VARIABLES), ("per_node", _PER_NODE_VARIABLES)) if not counts.hidden else ():
        for name in names:
            counts.read(kind, variables(name.lower()), f"the variable {name.lower()}")
    nodes = counts.found.get("nodes")
    for name in _TOTAL_VARIABLES if not counts.hidden else ():
        for spelled in (name, name.lower()):
            counts.read("total", variables(spelled), f"the variable {spelled}")
    return counts.product(assumed=True) or Processes(
        None, holes=list(dict.fromkeys(counts.hidden)), nodes=nodes[0] if nodes else None
    )


def _where(word: Word | None) -> str:
    return word.where if word is not None else ""
