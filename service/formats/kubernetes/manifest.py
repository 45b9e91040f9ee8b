"""From a manifest to the command that trains, and to how many processes its pods run."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from service.formats import clues
from service.formats.kubernetes.counting import Counted, count_pods, count_processes_of
from service.formats.kubernetes.pods import containers, device_of, environment_of, script_of
from service.formats.kubernetes.values import values_workload
from service.formats.kubernetes.workloads import Node, Workload, at, mapping, sequence, text_of, workload_of
from service.formats.opened import believable, open_command
from service.formats.source import ConfigSource
from service.formats.syntax.documents import DocumentFault, read_yaml_documents
from service.formats.syntax.launch import Processes
from service.formats.wrapped import Wrapped
from service.job.diagnostics import Diagnostic, MissingFact, Source

_KIND = re.compile(
    r"\bkind[\"']?[ \t]*:[ \t]*[\"']?(?:Pod|Job|JobSet|PyTorchJob|MPIJob|TrainJob|RayJob|Workload|List|ConfigMap|"
    r"ClusterTrainingRuntime|TrainingRuntime)\b"
)
_MOST_DOCUMENTS = 100
_NO_PODS = Diagnostic("not_training", "error", "the manifest starts no pods", rule="a Job, JobSet, PyTorchJob …")
_NO_NAME = re.compile(r"[/\\]|[A-Za-z]:|(.*[/\\])?\.\.([/\\]|$)")


def recognise(source: ConfigSource) -> float:
    """How sure it is that the text is a manifest, or the values of a chart that makes one."""
    if {"apiVersion", "kind"} <= clues.keys(source) and _KIND.search(clues.head(source)):
        return 0.97
    if not clues.keys(source) >= {"workload", "gpus"}:
        return 0.0
    # Overrides among a chart's arguments look like their own dialect, which then is inside.
    return 0.96 if "arguments[]" in clues.head(source) else 0.92


def unwrap(source: ConfigSource) -> Wrapped:
    """The command in a manifest with the pods that run it."""
    nothing = source.model_copy(update={"text": None, "argv": []})
    try:
        documents = _flat(read_yaml_documents(source.text or "").value)
    except DocumentFault as fault:
        return Wrapped(
            (), nothing, diagnostics=[Diagnostic(fault.code, "error", str(fault), rule="a Kubernetes manifest")]
        )
    maps = _config_maps(documents)
    workloads = [found for each in documents if (found := workload_of(each, documents)) is not None]
    workloads += [found for each in documents if (found := values_workload(each)) is not None]
    if not workloads:
        return Wrapped((), nothing, diagnostics=[_NO_PODS])
    commands = [_command(each, source, maps) for each in workloads]
    counted = [count_pods(each, source.env) for each in workloads]
    # Only one command is read: many workloads may start the same long script.
    largest = max(range(len(counted)), key=lambda index: (counted[index].gpus or 0, commands[index] is not None))
    count_processes_of(counted[largest], commands[largest])
    return _wrapped(source, counted[largest])


def _flat(documents: Sequence[object]) -> list[Node]:
    """Objects in order, those of a List included."""
    found: list[Node] = []
    for each in documents[:_MOST_DOCUMENTS]:
        document = mapping(each)
        inner = sequence(document.get("items")) if text_of(document.get("kind")).endswith("List") else ()
        found += [mapping(item) for item in inner[:_MOST_DOCUMENTS]] if inner else [document]
    return found


def _config_maps(documents: Sequence[Node]) -> dict[str, dict[str, str]]:
    return {
        text_of(at(each, "metadata", "name")): {
            str(key): text_of(value) for key, value in mapping(each.get("data")).items()
        }
        for each in documents
        if text_of(each.get("kind")) == "ConfigMap"
    }


def _command(workload: Workload, source: ConfigSource, maps: Mapping[str, Mapping[str, str]]) -> ConfigSource | None:
    """The first command that stands in the manifest, as a script with its arguments, environment and files."""
    files = {name: text for texts in maps.values() for name, text in texts.items() if not _NO_NAME.match(name)}
    for group in workload.groups:
        for container in containers(group.template) or [{}]:
            found = (group.command, []) if group.command else script_of(container)
            if found is None:
                continue
            text, argv = found
            env = {**(workload.environment or {}), **environment_of(container, maps), **source.env}
            return source.model_copy(
                update={"format": "auto", "text": text, "argv": argv, "env": env, "files": {**files, **source.files}}
            )
    return _beside(workload, source)


def _beside(workload: Workload, source: ConfigSource) -> ConfigSource | None:
    """The command that is given beside the manifest: as arguments, or as the one script among the files."""
    scripts = [text for name, text in source.files.items() if name.endswith((".sh", ".slurm", ".bash"))]
    if not workload.groups or not (source.argv or len(scripts) == 1):
        return None
    text = shlex.join(source.argv) if source.argv else scripts[0]
    env = {**(workload.environment or {}), **source.env}
    update = {"format": "auto", "text": text, "argv": [], "env": env}
    return source.model_copy(update=update)


def _wrapped(source: ConfigSource, found: Counted) -> Wrapped:
    places = found.places
    pods, refused = believable(Processes(found.world_size, found.where))
    found.world_size = pods.size
    notes = [*found.diagnostics, *places.diagnostics, *refused]
    missing = [MissingFact(name, message) for name, message in found.missing.items()]
    size = source.world_size or found.world_size
    if size is None:
        told = " and ".join(places.missing.values()) or found.where
        missing.append(MissingFact("world_size", told))
    if found.script is None or found.command is None:
        missing.append(MissingFact("command", "the image decides what runs; pass the command or its config"))
        nothing = source.model_copy(update={"text": None, "argv": []})
        return Wrapped((), nothing, size, _origin(source, found), notes, missing)
    command = found.command.model_copy(update={"world_size": size})
    opened = open_command(command, found.script, found.training_command, Processes(None), ())
    return replace(
        opened,
        world_size=size,
        processes=_origin(source, found),
        diagnostics=[*notes, *_conflict(found, command)],
        missing=missing,
        opaque=[*opened.opaque, *_no_gpus(found)],
    )


def _origin(source: ConfigSource, found: Counted) -> Source | None:
    if source.world_size is not None or found.world_size is None:
        return None
    return Source("derived", found.where)


_GPU_FLAG = re.compile(r"--gpu[_-]?(?:type)?[ =\"']+([A-Za-z][\w-]{1,20})")


def _conflict(found: Counted, command: ConfigSource) -> list[Diagnostic]:
    """The command names one device, the machine is another: the machine decides."""
    matched = _GPU_FLAG.search(f"{clues.head(command)} {clues.words(command)}")
    device = device_of(matched.group(1)) if matched else None
    if matched is None or found.machine is None or device in found.machine.devices:
        return []
    named, machine = matched.group(1), found.machine
    message = f"the command is for {named}, {machine.because} means {' or '.join(machine.devices)}; the machine counts"
    return [Diagnostic("gpu_type_conflict", "warning", message, (), named)]


def _no_gpus(found: Counted) -> list[Diagnostic]:
    """What to say besides when no dialect can read the command, and it asks for no GPU."""
    if found.gpus or not found.program:
        return []
    message = "no transformer configuration, and no GPUs are asked for: there is nothing to plan"
    return [Diagnostic("not_an_llm", "error", message)]
