"""Pods times processes (rule A5): what the manifest makes, what the command expects, and where the two differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from service.formats.kubernetes.placeholders import Placeholders
from service.formats.kubernetes.pods import containers, gpus_of, machine_of, shared_memory
from service.formats.kubernetes.workloads import Group, Machine, Workload
from service.formats.source import ConfigSource
from service.formats.syntax.commands import launch_of, training_command
from service.formats.syntax.launch import Launcher
from service.formats.syntax.shell import Command, Script, read_script
from service.formats.syntax.values import ValueFault, integer
from service.formats.syntax.words import Holes
from service.job.diagnostics import Diagnostic

_WORLD = ("/world_size",)
_PER_NODE = ("nproc_per_node", "num_gpus", "npernode")
_NODES = ("nnodes", "num_machines", "num_nodes")


@dataclass(frozen=True, slots=True)
class Pods:
    """One group in numbers; None is unknown. `processes` is what the manifest states for each pod."""

    group: Group
    count: int | None
    gpus: int | None
    processes: int | None


@dataclass(slots=True)
class Counted:
    """A workload in numbers. `gpus` are those of all pods, `program` what the command starts, if it can be seen."""

    workload: Workload
    places: Placeholders
    pods: list[Pods] = field(default_factory=list)
    command: ConfigSource | None = None
    script: Script | None = None
    training_command: Command | None = None
    world_size: int | None = None
    where: str = ""
    gpus: int | None = None
    program: str = ""
    machine: Machine | None = None
    missing: dict[str, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def training(self) -> list[Pods]:
        """The groups that train: those with GPUs, or all that could where none is stated."""
        able = [each for each in self.pods if each.group.trains]
        return [each for each in able if each.gpus] or able

    def note(self, code: str, severity: Any, message: str, **more: Any) -> None:
        """Adds a diagnostic about the number of processes."""
        self.diagnostics.append(Diagnostic(code, severity, message, _WORLD, **more))


@dataclass(frozen=True, slots=True)
class _Launched:
    """The launch in the command: processes on a node, nodes and all processes, as far as it says so in numbers."""

    program: str = ""
    entry: str = ""
    per_node: int | None = None
    nodes: int | None = None
    total: int | None = None


def count_pods(workload: Workload, env: Mapping[str, str]) -> Counted:
    """The workload's pods and GPUs, without a look at its command."""
    found = Counted(workload, Placeholders(env), machine=workload.machine)
    found.pods = [_pods(each, found) for each in workload.groups]
    known = [each.count * each.gpus for each in found.pods if each.count is not None and each.gpus is not None]
    found.gpus = sum(known) if known else None
    if workload.total is not None:
        found.where = "the number of GPUs that the values state"
        found.gpus = found.world_size = found.places.number(workload.total, found.where)
    templates = (each.group.template for each in found.training)
    found.machine = found.machine or next((each for template in templates if (each := machine_of(template))), None)
    return found


def count_processes_of(found: Counted, command: ConfigSource | None) -> None:
    """Adds the command, the number of processes, and every disagreement between manifest and command."""
    found.command = command
    launched = _Launched()
    if command is not None:
        found.script = read_script(command.text or "", env=command.env, argv=command.argv, files=command.files)
        found.training_command = training_command(found.script)
        launched = _launched(found.script, found.training_command)
    found.program = launched.entry
    _hint(found)
    _world(found, found.training, launched)
    _compare(found, found.training, launched)


def _pods(group: Group, found: Counted) -> Pods:
    places = found.places
    number = places.number(group.count, f"{group.where}: number of pods")
    gpus: int | None = None
    for container in containers(group.template):
        for resource, value in gpus_of(container):
            each = places.number(value, f"{group.where}: {resource}")
            if each is not None:
                gpus = (gpus or 0) + each
        if (gpus or 0) > 1 and not shared_memory(group.template, container):
            message = f"{group.where}: nothing is mounted at the shared-memory path, which is 64 MiB then"
            fix = "mount an emptyDir of medium Memory; it counts against the pod's memory"
            note = Diagnostic("shared_memory", "warning", message, (), group.name, fixes=(fix,))
            found.diagnostics += [] if note in found.diagnostics else [note]
    stated = places.number(group.processes, f"{group.where}: processes in a pod")
    if isinstance(group.processes, str) and group.processes in {"auto", "gpu"}:
        stated = gpus
    return Pods(group, number, gpus, stated)


def _launched(script: Script, chosen: Command | None) -> _Launched:
    if chosen is None:
        return _Launched()
    launch = launch_of(chosen, script.holes)
    inner = next((each for each in reversed(launch.launchers) if each.program != "python"), None)
    if inner is None:
        return _Launched(entry=launch.entry)
    return _Launched(
        inner.program,
        launch.entry,
        _option(inner, _PER_NODE, script.holes),
        _option(inner, _NODES, script.holes),
        _option(inner, ("num_processes", "ntasks") if inner.program in {"accelerate", "mpirun"} else (), script.holes),
    )


def _option(launcher: Launcher, keys: Sequence[str], holes: Holes) -> int | None:
    for key in keys:
        argument = launcher.options.get(key)
        if argument is None or not argument.values or holes.within(argument.text):
            continue
        try:
            return integer(argument.values[0].text.rsplit(":", 1)[-1])
        except ValueFault:
            continue
    return None


def _world(found: Counted, training: Sequence[Pods], launched: _Launched) -> None:
    """Processes of all pods: what the launcher starts in each, else what the manifest states, else one for a GPU."""
    if found.workload.total is not None:
        return
    if not training:
        found.where = "no pods of the manifest train"
        return
    sizes = [(each, _in_a_pod(each, launched)) for each in training]
    if launched.program in {"accelerate", "mpirun"} and launched.total is not None:
        found.world_size, found.where = launched.total, f"{launched.program}: the number of processes"
        return
    if any(size is None or each.count is None for each, size in sizes):
        found.where = "the manifest and its command do not say how many processes run in each pod; pass world_size"
        if not any(gpus_of(each) for pod in training for each in containers(pod.group.template)):
            found.note("gpus_per_node_unknown", "warning", "no GPUs of a pod are stated, here or in a supplied runtime")
        return
    found.world_size = sum((each.count or 0) * (size or 0) for each, size in sizes)
    found.where = " + ".join(f"{each.count} pods of {each.group.name} x {size}" for each, size in sizes)


def _in_a_pod(pods: Pods, launched: _Launched) -> int | None:
    """Processes in one pod."""
    if launched.per_node is not None and launched.program in {"torchrun", "deepspeed"}:
        return launched.per_node
    if pods.processes is not None:
        return pods.processes
    if (
        pods.gpus is not None
        and launched.entry
        and not launched.program
        and pods.group.where.startswith("spec.pytorch")
    ):
        # The operator starts one process in a pod, and says so in WORLD_SIZE; only a launcher starts more.
        return 1
    return pods.gpus


def _compare(found: Counted, training: Sequence[Pods], launched: _Launched) -> None:
    """Rule A5, as far as the numbers are known."""
    for lacking in found.workload.lacking:
        message = f"the runtime {lacking} is not among the documents; it may state processes, GPUs and the command"
        found.note("missing_file", "warning", message, found=lacking, fixes=(f"add the manifest of {lacking}",))
        if found.world_size is None or found.command is None:
            found.missing[lacking] = message
    gpus = {each.gpus for each in training if each.gpus is not None}
    if len(gpus) > 1:
        listed = ", ".join(f"{each.group.name} {each.gpus}" for each in training)
        found.note("gpus_differ", "warning", f"pods have different numbers of GPUs: {listed}", rule="equal pods")
    pods = [each.count for each in training if each.count is not None]
    if launched.nodes is not None and len(pods) == len(training) and sum(pods) != launched.nodes and launched.program:
        message = f"the command expects {launched.nodes} nodes, the manifest runs {sum(pods)} pods"
        fixes = (f"--nnodes {sum(pods)}", f"replicas: {launched.nodes}")
        found.note("replicas_mismatch", "error", message, rule="--nnodes is the number of pods", fixes=fixes)
    held = sum(each.count * each.gpus for each in training if each.count and each.gpus)
    if found.world_size is not None and held and found.world_size != held:
        message = f"{found.world_size} processes run ({found.where}), {held} GPUs are asked for"
        severity = "error" if found.world_size > held else "warning"
        found.note(
            "world_size_mismatch", severity, message, rule="one process for each GPU", found=str(found.world_size)
        )
    if found.workload.elastic is not None:
        low, high = found.workload.elastic
        found.note("elastic", "info", f"the job may run on {low} to {high} pods; the number of replicas is planned")


def _hint(found: Counted) -> None:
    if found.machine is not None:
        devices = " or ".join(found.machine.devices)
        found.diagnostics.append(
            Diagnostic("device_hint", "info", f"{found.machine.because} means {devices}", (), found=devices)
        )
