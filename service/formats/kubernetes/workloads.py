"""The kinds of workload that start training, each as the groups of equal pods that it consists of.

Shapes: Kubernetes batch/v1; JobSet v1alpha2; Kubeflow training operator v1 and trainer v1alpha1; MPI operator v2beta1;
KubeRay v1; Kueue v1beta1.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """Equal pods. `count` and `processes` (on each pod) are as written: numbers, text, or a placeholder.

    `template` is a pod template; `starts` says that this group's command starts the whole job, `trains` that its GPUs
    take part; `command` is a shell command that stands outside the pods.
    """

    name: str
    count: Any
    template: Node
    where: str
    processes: Any = None
    trains: bool = True
    command: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """The devices that a machine may have, and what says so."""

    devices: tuple[str, ...]
    because: str


@dataclass(frozen=True, slots=True)
class Workload:
    """One workload with its groups.

    `lacking` names documents it refers to, `elastic` are its bounds on replicas, `environment` is what its operator
    sets in the pods, `total` the number of GPUs where only that is stated.
    """

    kind: str
    name: str
    groups: Sequence[Group]
    lacking: Sequence[str] = ()
    elastic: tuple[Any, Any] | None = None
    environment: Mapping[str, str] | None = None
    machine: Machine | None = None
    total: Any = None


def workload_of(document: Node, others: Sequence[Node]) -> Workload | None:
    """The workload that a document describes, None for any other kind; `others` may hold the runtime it refers to."""
    reader = _KINDS.get(text_of(document.get("kind")))
    return reader(document, others) if reader else None


def is_workload(kind: str) -> bool:
    """Whether a kind starts pods."""
    return kind in _KINDS


def mapping(value: Any) -> Node:
    """The value if it is an object, else an empty one: manifests are written by people."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: Any) -> Sequence[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def text_of(value: Any) -> str:
    """The value as text, empty for nothing."""
    return "" if value is None or isinstance(value, (Mapping, list)) else str(value)


def at(node: Any, *path: str) -> Any:
    """The value below a path of keys, None where it breaks off."""
    for key in path:
        node = mapping(node).get(key)
    return node


def _name(document: Node) -> str:
    return text_of(at(document, "metadata", "name") or at(document, "metadata", "generateName"))


def _pod(document: Node, _others: Sequence[Node]) -> Workload:
    return Workload("Pod", _name(document), [Group("pod", 1, document, "Pod")])


def _job_group(spec: Any, name: str, replicas: Any, where: str) -> Group:
    """Pods of a batch Job: `parallelism` at a time, never more than `completions`."""
    counts = [each for each in (at(spec, "parallelism"), at(spec, "completions")) if each is not None]
    numbers = [each for each in counts if isinstance(each, int)]
    count: Any = min(numbers) if counts and len(numbers) == len(counts) else next(iter(counts), 1)
    if replicas not in {None, 1}:
        count = count * replicas if isinstance(count, int) and isinstance(replicas, int) else replicas
    return Group(name, count, mapping(at(spec, "template")), where)


def _job(document: Node, _others: Sequence[Node]) -> Workload:
    return Workload("Job", _name(document), [_job_group(document.get("spec"), "job", None, "spec")])


def _jobset(document: Node, _others: Sequence[Node]) -> Workload:
    jobs = sequence(at(document, "spec", "replicatedJobs"))
    return Workload("JobSet", _name(document), list(_replicated(jobs, "spec.replicatedJobs")))


def _replicated(jobs: Iterable[Any], where: str) -> Iterator[Group]:
    for index, each in enumerate(jobs):
        name = text_of(at(each, "name")) or str(index)
        yield _job_group(at(each, "template", "spec"), name, at(each, "replicas"), f"{where}[{index}]")


def _pytorch_job(document: Node, _others: Sequence[Node]) -> Workload:
    spec = mapping(document.get("spec"))
    elastic = mapping(spec.get("elasticPolicy"))
    processes = spec.get("nprocPerNode") or elastic.get("nProcPerNode")
    specs = mapping(spec.get("pytorchReplicaSpecs"))
    groups = [
        Group(
            name,
            _replicas(specs[name]),
            mapping(at(specs[name], "template")),
            f"spec.pytorchReplicaSpecs.{name}",
            processes,
        )
        for name in ("Master", "Worker")
        if name in specs
    ]
    bounds = (elastic.get("minReplicas"), elastic.get("maxReplicas")) if elastic else None
    return Workload("PyTorchJob", _name(document), groups, elastic=bounds)


def _replicas(spec: Any) -> Any:
    replicas = at(spec, "replicas")
    return 1 if replicas is None else replicas


def _template(spec: Any) -> Node:
    return mapping(at(spec, "template"))


def _mpi_job(document: Node, _others: Sequence[Node]) -> Workload:
    """The launcher holds the command; the workers only wait for it."""
    spec = mapping(document.get("spec"))
    specs = mapping(spec.get("mpiReplicaSpecs"))
    slots = spec.get("slotsPerWorker")
    groups = [
        Group(
            name,
            _replicas(specs[name]),
            _template(specs[name]),
            f"spec.mpiReplicaSpecs.{name}",
            1 if slots is None else slots,
            trains=name == "Worker",
        )
        for name in ("Launcher", "Worker")
        if name in specs
    ]
    return Workload("MPIJob", _name(document), groups)


def _train_job(document: Node, others: Sequence[Node]) -> Workload:
    """The trainer's own values first, then those of the runtime that it refers to, if that is among the documents."""
    trainer = mapping(at(document, "spec", "trainer"))
    runtime = _runtime(document, others)
    policy = mapping(at(runtime, "spec", "mlPolicy"))
    template = _runtime_template(runtime)
    node = _with_trainer(template, trainer)
    count = trainer.get("numNodes")
    processes = trainer.get("numProcPerNode")
    if count is None:
        count = policy.get("numNodes", 1 if runtime else None)
    if processes is None:
        processes = next((at(policy, each, "numProcPerNode") for each in ("torch", "mpi") if at(policy, each)), None)
    lacking = [] if runtime else [text_of(at(document, "spec", "runtimeRef", "name"))]
    group = Group("node", count, node, "spec.trainer", processes)
    return Workload("TrainJob", _name(document), [group], lacking=[each for each in lacking if each])


def _runtime(document: Node, others: Sequence[Node]) -> Node:
    name = text_of(at(document, "spec", "runtimeRef", "name"))
    kinds = {"TrainingRuntime", "ClusterTrainingRuntime"}
    return next((each for each in others if text_of(each.get("kind")) in kinds and _name(each) == name), {})


def _runtime_template(runtime: Node) -> Node:
    jobs = sequence(at(runtime, "spec", "template", "spec", "replicatedJobs"))
    named = [each for each in jobs if text_of(at(each, "name")) in {"node", "trainer-node"}] or list(jobs[:1])
    return mapping(at(named[0], "template", "spec", "template")) if named else {}


def _with_trainer(template: Node, trainer: Node) -> Node:
    """The pod template with the trainer's command, arguments, environment and resources on its first container."""
    containers = sequence(at(template, "spec", "containers"))
    own = {key: trainer[key] for key in ("command", "args", "env") if trainer.get(key) is not None}
    if trainer.get("resourcesPerNode") is not None:
        own["resources"] = trainer["resourcesPerNode"]
    first = {**mapping(containers[0] if containers else {}), **own}
    return {**template, "spec": {**mapping(template.get("spec")), "containers": [first, *containers[1:]]}}


def _ray_job(document: Node, _others: Sequence[Node]) -> Workload:
    """The entrypoint is a shell command that the head runs; the workers have the GPUs."""
    spec = mapping(document.get("spec"))
    cluster = mapping(spec.get("rayClusterSpec"))
    command = text_of(spec.get("entrypoint"))
    head = mapping(at(cluster, "headGroupSpec", "template"))
    groups = [Group("head", 1, head, "spec.rayClusterSpec.headGroupSpec", trains=False, command=command)]
    for index, each in enumerate(sequence(cluster.get("workerGroupSpecs"))):
        replicas, hosts = at(each, "replicas"), at(each, "numOfHosts")
        count: Any = replicas if replicas is not None else at(each, "minReplicas")
        if isinstance(count, int) and isinstance(hosts, int):
            count *= hosts
        where = f"spec.rayClusterSpec.workerGroupSpecs[{index}]"
        groups.append(Group(text_of(at(each, "groupName")), count, mapping(at(each, "template")), where, "gpu"))
    return Workload("RayJob", _name(document), groups)


def _kueue_workload(document: Node, _others: Sequence[Node]) -> Workload:
    groups = [
        Group(text_of(at(each, "name")), at(each, "count"), mapping(at(each, "template")), f"spec.podSets[{index}]")
        for index, each in enumerate(sequence(at(document, "spec", "podSets")))
    ]
    return Workload("Workload", _name(document), groups)


_KINDS: Mapping[str, Callable[[Node, Sequence[Node]], Workload]] = {
    "Pod": _pod,
    "Job": _job,
    "JobSet": _jobset,
    "PyTorchJob": _pytorch_job,
    "MPIJob": _mpi_job,
    "TrainJob": _train_job,
    "RayJob": _ray_job,
    "Workload": _kueue_workload,
}
