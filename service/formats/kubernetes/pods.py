"""What a pod template says: GPUs, command, environment, and the machine it asks for."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from service.catalog.devices import UnknownDevice, find_device
from service.formats.kubernetes.workloads import Machine, Node, at, mapping, sequence, text_of

_GPU = re.compile(r"(nvidia\.com|amd\.com|gpu\.intel\.com|habana\.ai)/(gpu|mig-[\w.]+|gaudi|pgpu)")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_SHELL_TEXT = re.compile(r"-[a-z]*c")
# A variable of the pod in a command, as Kubernetes itself expands it.
_OWN_VARIABLE = re.compile(r"(?<!\$)\$\(([A-Za-z_]\w*)\)")
_LABELS = (
    "cloud.google.com/gke-accelerator",
    "nvidia.com/gpu.product",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "karpenter.k8s.aws/instance-gpu-name",
    "gpu.nvidia.com/model",
    "gpu.nvidia.com/class",
)
# Machine types that the catalogue does not list; the providers' own tables of machine families.
_MACHINES = (
    (re.compile(r"p5\.(4|48)xlarge", re.IGNORECASE), "h100-sxm-80gb"),
    (re.compile(r"a3-ultragpu|p5en?\.48xlarge|nd\w*h200", re.IGNORECASE), "h200-sxm-141gb"),
    (re.compile(r"a3-(high|mega|edge)gpu|nd\w*h100", re.IGNORECASE), "h100-sxm-80gb"),
    (re.compile(r"a4-highgpu|p6-b200", re.IGNORECASE), "b200-sxm-180gb"),
    (re.compile(r"a2-ultragpu|p4de\.24xlarge|nd\w*a100_v4", re.IGNORECASE), "a100-sxm-80gb"),
    (re.compile(r"a2-(high|mega)gpu|p4d\.24xlarge", re.IGNORECASE), "a100-sxm-40gb"),
)


def containers(template: Node) -> list[Node]:
    """The containers of a pod template, or of a pod."""
    return [mapping(each) for each in sequence(at(template, "spec", "containers"))]


def gpus_of(container: Node) -> list[tuple[str, Any]]:
    """GPU resources of a container with their numbers as written: limits, else requests."""
    for section in ("limits", "requests"):
        found = _gpus_in(at(container, "resources", section))
        if found:
            return found
    # A trainer states its resources without limits and requests.
    return _gpus_in(at(container, "resources"))


def _gpus_in(resources: Any) -> list[tuple[str, Any]]:
    return [(str(key), value) for key, value in mapping(resources).items() if _GPU.fullmatch(str(key))]


def environment_of(container: Node, maps: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The variables of a container whose values stand in the manifest; ConfigMaps first, as in Kubernetes."""
    found: dict[str, str] = {}
    for each in sequence(container.get("envFrom")):
        found |= maps.get(text_of(at(each, "configMapRef", "name")), {})
    for each in sequence(container.get("env")):
        name, value = text_of(at(each, "name")), at(each, "value")
        reference = mapping(at(each, "valueFrom", "configMapKeyRef"))
        if value is None and reference:
            value = maps.get(text_of(reference.get("name")), {}).get(text_of(reference.get("key")))
        if name and value is not None:
            found[name] = _OWN_VARIABLE.sub(
                lambda matched: found.get(matched.group(1), matched.group(0)), text_of(value)
            )
    return found


def script_of(container: Node) -> tuple[str, list[str]] | None:
    """The container's command as a shell script and its arguments; None when the image decides it."""
    words = [text_of(each) for key in ("command", "args") for each in _list(container.get(key))]
    if not words:
        return None
    if PurePosixPath(words[0]).name in _SHELLS:
        texts = [index for index, each in enumerate(words) if index and _SHELL_TEXT.fullmatch(each)]
        if texts and texts[0] + 1 < len(words):
            text = words[texts[0] + 1]
            return _expandable(text), words[texts[0] + 3 :]
    return " ".join(_quoted(each) for each in words), []


def _list(value: Any) -> Sequence[Any]:
    return sequence(value) if isinstance(value, list) else [] if value is None else [value]


def _expandable(text: str) -> str:
    """`$(NAME)` is the pod's variable even inside a shell's text: Kubernetes fills it in before the shell runs."""
    return _OWN_VARIABLE.sub(r"${\1}", text)


def _quoted(word: str) -> str:
    """A word of a command list, in which only variables are filled in."""
    if "$" not in word:
        return shlex.quote(word)
    inner = re.sub(r'([\\"`])', r"\\\1", _expandable(word))
    return '"' + re.sub(r"\$(?![\w{])", r"\\$", inner) + '"'


def machine_of(template: Node) -> Machine | None:
    """The device that the node selector or a required node affinity names."""
    for label, value in _wanted_labels(template):
        device = device_of(value)
        if device is not None and (label in _LABELS or "gpu" in label or "accelerator" in label or "instance" in label):
            return Machine((device,), f"{label} {value}")
    return None


def device_of(text: str) -> str | None:
    """The device of a product name, an accelerator label or a machine type; None when the text names none."""
    for pattern, device in _MACHINES:
        if pattern.search(text):
            return device
    for name in (text, text.removeprefix("nvidia-"), text.removeprefix("NVIDIA-"), text.removeprefix("tesla-")):
        try:
            return find_device(name).id
        except UnknownDevice:
            continue
    return None


def _wanted_labels(template: Node) -> Iterator[tuple[str, str]]:
    spec = mapping(at(template, "spec"))
    yield from ((str(key), text_of(value)) for key, value in mapping(spec.get("nodeSelector")).items())
    required = at(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for term in sequence(at(required, "nodeSelectorTerms")):
        for each in sequence(at(term, "matchExpressions")):
            if text_of(at(each, "operator")) == "In":
                yield from ((text_of(at(each, "key")), text_of(value)) for value in sequence(at(each, "values")))


def shared_memory(template: Node, container: Node) -> bool:
    """Whether anything is mounted for shared memory, or the host's is used."""
    spec = mapping(at(template, "spec"))
    if spec.get("hostIPC") is True:
        return True
    volumes = [mapping(each) for each in sequence(spec.get("volumes"))]
    in_memory = {text_of(each.get("name")) for each in volumes if at(each, "emptyDir", "medium") == "Memory"}
    mounts = [mapping(each) for each in sequence(container.get("volumeMounts"))]
    return any(
        text_of(each.get("mountPath")) == "/dev/shm" or text_of(each.get("name")) in in_memory  # noqa: S108  (no file)
        or "shm" in text_of(each.get("name"))
        for each in mounts
    )  # fmt: skip
