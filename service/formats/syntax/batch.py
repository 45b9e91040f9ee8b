"""Rules on how a batch job starts its processes (rule A4), and what its options say besides."""

from collections.abc import Mapping

from service.catalog.devices import UnknownDevice, find_device
from service.formats.syntax.launch import Launch
from service.formats.syntax.values import ValueFault, integer, memory_bytes
from service.formats.syntax.words import Holes, Word
from service.job.diagnostics import Diagnostic, Severity

_WORLD = ("/world_size",)
# Programs that start one process for each GPU themselves.
_SPAWNING = frozenset({"torchrun", "accelerate", "deepspeed"})


def batch_findings(options: Mapping[str, Word], launch: Launch, holes: Holes) -> list[Diagnostic]:
    """What is wrong between the batch job's options and the launch inside it."""
    gpus = _number(options.get("gpus_per_node"))
    found = [*_memory(options), *_device(options)]
    spawning = next((each for each in launch.launchers if each.program in _SPAWNING), None)
    if spawning is None:
        return found + _plain_tasks(options, gpus)
    steps = [each for each in launch.launchers if each.program == "srun"]
    stated = [
        argument.values[0] for each in steps if (argument := each.options.get("ntasks_per_node")) and argument.values
    ]
    tasks = (stated or [options["ntasks_per_node"]]) if stated or "ntasks_per_node" in options else []
    number = _number(tasks[0]) if tasks else None
    if steps and number is not None and number > 1:
        message = (
            f"{tasks[0].where}: {number} tasks on a node each start {spawning.program}, which starts its own processes"
        )
        rule = f"with {spawning.program} inside, ntasks-per-node is 1"
        found.append(
            Diagnostic(
                "tasks_per_node", "warning", message, _WORLD, str(number), rule, ("#SBATCH --ntasks-per-node=1",)
            )
        )
    for key in ("nproc_per_node", "num_gpus"):
        argument = spawning.options.get(key)
        each = _number(argument.values[0]) if argument and argument.values and not holes.within(argument.text) else None
        if each is not None and gpus is not None and each > gpus:
            message = f"{spawning.program} starts {each} processes on a node, the batch job asks for {gpus} GPUs there"
            fixes = (f"--{key} {gpus}", f"#SBATCH --gpus-per-node={each}")
            found.append(
                Diagnostic(
                    "processes_exceed_gpus", "error", message, _WORLD, str(each), "one GPU for each process", fixes
                )
            )
    return found


def unstated_nodes(options: Mapping[str, Word], world_size: int | None) -> list[Diagnostic]:
    """A batch script without a number of nodes gets it from the command that submits it, or runs on one."""
    if not options or {"nodes", "ntasks"} & options.keys() or world_size is not None:
        return []
    message = "the number of nodes is not among the #SBATCH lines; it is given to sbatch, or is 1"
    return [Diagnostic("nodes_from_command_line", "warning", message, _WORLD, fixes=("#SBATCH --nodes=N",))]


def _plain_tasks(options: Mapping[str, Word], gpus: int | None) -> list[Diagnostic]:
    """Without a launcher every task is a process, so a node has as many tasks as GPUs."""
    tasks = _number(options.get("ntasks_per_node"))
    if tasks is None or gpus is None or tasks == gpus:
        return []
    message = f"{tasks} tasks on a node of {gpus} GPUs, and nothing else starts processes"
    rule = "without a launcher, ntasks-per-node equals the GPUs of a node"
    fixes = (f"#SBATCH --ntasks-per-node={gpus}",)
    severity: Severity = "error" if tasks > gpus else "warning"
    return [Diagnostic("tasks_per_node", severity, message, _WORLD, str(tasks), rule, fixes)]


def _memory(options: Mapping[str, Word]) -> list[Diagnostic]:
    found = []
    for word in (options[key] for key in ("mem", "mem_per_gpu", "mem_per_cpu") if key in options):
        try:
            memory_bytes(word.text)
        except ValueFault as fault:
            found.append(Diagnostic("value_type", "error", f"{word.where}: {fault}", (), word.text[:60]))
    return found


def _device(options: Mapping[str, Word]) -> list[Diagnostic]:
    """The device that a kind of GPU means, as in `--gres=gpu:h100:8`; a kind of the site's own means none."""
    word = options.get("gpu_kind")
    try:
        device = find_device(word.text).id if word is not None else None
    except UnknownDevice:
        device = None
    if word is None or device is None:
        return []
    return [Diagnostic("device_hint", "info", f"{word.where}: {word.text} means {device}", (), device)]


def _number(word: Word | None) -> int | None:
    try:
        return integer(word.text) if word is not None else None
    except ValueFault:
        return None
