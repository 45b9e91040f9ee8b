"""What an operator says of devices: figures over those of the catalogue, devices that it lacks, slices of either."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from types import MappingProxyType
from typing import Any, Final, Literal

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from service.calculator.units import GIB
from service.catalog.devices import (
    STRICT,
    Device,
    Devices,
    Evidence,
    Rates,
    SchedulerLabels,
    Source,
    load_devices,
)
from service.catalog.names import normalised


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Slice:
    """A part of a device that a process gets as a device of its own: `count` of them on each device."""

    name: str
    kind: Literal["mig", "vgpu"]
    usable_bytes: int
    total_bytes: int | None = None
    count: int = 1
    labels: SchedulerLabels = SchedulerLabels()


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Definition:
    """What is said of one device; what is None or empty is as in the catalogue's device of this id, or of `base`."""

    base: str | None = None
    vendor: str | None = None
    architecture: str | None = None
    memory_kind: str | None = None
    marketing_gb: int | None = None
    total_bytes: int | None = None
    usable_bytes: int | None = None
    reserve_bytes: int = 0
    memory_bytes_per_second: float | None = None
    peak_flops: Rates | None = None
    link_kind: str | None = None
    link_bytes_per_second: float | None = None
    network_bytes_per_second: float | None = None
    link_domain: int | None = None
    gpus_per_node: int | None = None
    aliases: tuple[str, ...] | None = None
    labels: SchedulerLabels | None = None
    slices: tuple[Slice, ...] = ()
    notes: str | None = None


@dataclass(frozen=True, slots=True)
class DefinitionFault:
    """One thing that is wrong with a definition: a JSON Pointer into it, and what would be right."""

    pointer: str
    code: Literal["missing_key", "out_of_range", "unknown_device", "name_taken", "not_here"]
    message: str
    fix: str


class InvalidDefinition(ValueError):
    """The definition cannot stand; `faults` has everything that is wrong with it."""

    def __init__(self, faults: Sequence[DefinitionFault]) -> None:
        super().__init__("; ".join(each.message for each in faults))
        self.faults = tuple(faults)


LARGEST_MEMORY: Final = 1 << 50
"""Bytes of a device; far above any, and far below what sums of sizes could overflow."""

_STATED: Final = Source(confidence="stated", source="the operator of this service")
_DEFINITION = TypeAdapter(Definition)
# What an answer about a job depends on: a definition that changes none of it has the catalogue's revision.
_FIGURES: Final = (
    *("vendor", "architecture", "total_bytes", "usable_bytes", "hbm_bytes_per_second", "peak_flops", "link_kind"),
    *("link_bytes_per_second", "peer_bytes_per_second", "network_bytes_per_second", "nvlink_domain", "gpus_per_node"),
)
_SPELT: Final[Mapping[str, str]] = {
    "hbm_bytes_per_second": "memory_bytes_per_second",
    "nvlink_domain": "link_domain",
}


def devices_with(definitions: Mapping[str, Definition]) -> Devices:
    """Return the catalogue with an operator's definitions by id over it. Raises InvalidDefinition."""
    found = dict(load_devices())
    for name, definition in definitions.items():
        found[name] = _defined(name, definition)
    for name, definition in definitions.items():
        found.update({each.id: each for each in _sliced(found[name], definition.slices)})
    return Devices(found, {name: _stated(each) for name, each in definitions.items()}, _stamp(definitions))


def check_names(devices: Devices, device_id: str, definition: Definition) -> None:
    """Raise InvalidDefinition where a name that is stated for a device is another one's id or stated name."""
    ids = {normalised(each.id): each.id for each in devices if each.id != device_id}
    others = {normalised(name): each for each, names in devices.stated.items() if each != device_id for name in names}
    labels = definition.labels or SchedulerLabels()
    places: dict[str, tuple[str, ...]] = {
        "/aliases": definition.aliases or (),
        "/labels/gres_types": labels.gres_types,
        "/labels/instance_types": labels.instance_types,
        "/labels/kubernetes_products": labels.kubernetes_products,
    }
    known = {**others, **ids}
    faults = [
        _taken(f"{place}/{number}", name, known[normalised(name)])
        for place, names in places.items()
        for number, name in enumerate(names)
        if normalised(name) in known
    ]
    if faults:
        raise InvalidDefinition(faults)


def _stated(definition: Definition) -> tuple[str, ...]:
    return (*(definition.aliases or ()), *(() if definition.labels is None else definition.labels.names()))


def _taken(pointer: str, name: str, other: str) -> DefinitionFault:
    message = f"{name!r} leads to {other} already"
    return DefinitionFault(pointer, "name_taken", message, "take the name from one of them")


def _defined(name: str, definition: Definition) -> Device:
    catalogue = load_devices().get(name)
    base = _base(name, definition)
    stated = {
        "vendor": definition.vendor,
        "architecture": definition.architecture,
        "memory_kind": definition.memory_kind,
        "total_bytes": definition.total_bytes,
        "usable_bytes": definition.usable_bytes,
        "hbm_bytes_per_second": definition.memory_bytes_per_second,
        "peak_flops": definition.peak_flops,
        "link_kind": definition.link_kind,
        "link_bytes_per_second": definition.link_bytes_per_second,
        "network_bytes_per_second": definition.network_bytes_per_second,
        "nvlink_domain": definition.link_domain,
        "gpus_per_node": definition.gpus_per_node,
        "marketing_gb": definition.marketing_gb,
        "aliases": definition.aliases,
        "labels": definition.labels,
        "notes": definition.notes,
    }
    said = {key: value for key, value in stated.items() if value is not None}
    device = _new(name, said) if base is None else replace(base, id=name, **_without_measured(said))
    if base is not None and catalogue is None:
        # Another device than the one whose figures it has: the names are not its own.
        device = replace(device, aliases=definition.aliases or (), labels=definition.labels or SchedulerLabels())
    _check_memory(device, definition)
    device = replace(
        device,
        origin="operator" if catalogue is None else "override",
        usable_bytes=None if device.usable_bytes is None else device.usable_bytes - definition.reserve_bytes,
        reserve_bytes=definition.reserve_bytes,
        evidence=_evidence(device, said),
    )
    same = catalogue is not None and all(getattr(device, key) == getattr(catalogue, key) for key in _FIGURES)
    return device if same else replace(device, revision=_revision(device))


def _base(name: str, definition: Definition) -> Device | None:
    catalogue = load_devices().get(name)
    if definition.base is None:
        return catalogue
    if catalogue is not None:
        message = f"{name} is a device of the catalogue, whose own figures it has"
        raise InvalidDefinition([DefinitionFault("/base", "not_here", message, "leave base out")])
    base = load_devices().get(definition.base)
    if base is None:
        message = f"there is no device {definition.base!r} in the catalogue"
        fix = "give an id of GET /v1/devices whose origin is catalogue or override"
        raise InvalidDefinition([DefinitionFault("/base", "unknown_device", message, fix)])
    return base


def _new(name: str, said: Mapping[str, Any]) -> Device:
    needed = ("vendor", "architecture", "usable_bytes", "hbm_bytes_per_second", "peak_flops")
    absent = [_SPELT.get(key, key) for key in needed if key not in said]
    if absent:
        fix = "state it, or name as base a device of the catalogue that has it"
        raise InvalidDefinition(
            [DefinitionFault(f"/{each}", "missing_key", f"a device without base needs {each}", fix) for each in absent]
        )
    size = said.get("total_bytes") or said["usable_bytes"]
    alone: dict[str, Any] = {"gpus_per_node": 1, "nvlink_domain": 1, "link_kind": "", "memory_kind": "", "aliases": ()}
    figures = {"marketing_gb": ceil(size / GIB), **alone, **said}
    return Device(id=name, evidence=Evidence(memory=_STATED, compute=_STATED, links=_STATED), **figures)


def _without_measured(said: Mapping[str, Any]) -> dict[str, Any]:
    """What is said, and nothing of what was measured with other links or at other peaks."""
    found = dict(said)
    if "link_bytes_per_second" in said:
        found |= {"collectives": (), "peer_bytes_per_second": None}
    if "peak_flops" in said:
        found |= {"achieved_flops": MappingProxyType({})}
    return found


def _check_memory(device: Device, definition: Definition) -> None:
    faults = []
    usable, total = device.usable_bytes, device.total_bytes
    if usable is None:
        message = "the memory that a process can use is not known"
        fix = "state usable_bytes: what torch.cuda.get_device_properties(0).total_memory says"
        faults.append(DefinitionFault("/usable_bytes", "missing_key", message, fix))
    elif total is not None and usable > total:
        message = f"usable_bytes {usable} is more than the total of {total}"
        faults.append(DefinitionFault("/usable_bytes", "out_of_range", message, f"at most {total}"))
    if usable is not None and definition.reserve_bytes >= usable:
        message = f"a reserve of {definition.reserve_bytes} leaves nothing of {usable} usable bytes"
        faults.append(DefinitionFault("/reserve_bytes", "out_of_range", message, f"less than {usable}"))
    most = total or usable or 0
    seen: set[str] = set()
    for number, part in enumerate(definition.slices):
        place = f"/slices/{number}"
        if normalised(part.name) in seen:
            message = f"there are two slices {part.name!r}"
            faults.append(DefinitionFault(f"{place}/name", "name_taken", message, "name each slice once"))
        seen.add(normalised(part.name))
        size = max(part.usable_bytes, part.total_bytes or 0)
        if size > most:
            message = f"slice {part.name} of {size} bytes is larger than its device of {most}"
            faults.append(DefinitionFault(f"{place}/usable_bytes", "out_of_range", message, f"at most {most}"))
        elif part.total_bytes is not None and part.usable_bytes > part.total_bytes:
            message = f"usable_bytes {part.usable_bytes} is more than the total of {part.total_bytes}"
            fix = f"at most {part.total_bytes}"
            faults.append(DefinitionFault(f"{place}/usable_bytes", "out_of_range", message, fix))
    if faults:
        raise InvalidDefinition(faults)


def _evidence(device: Device, said: Mapping[str, object]) -> Evidence:
    known = device.evidence
    return Evidence(
        memory=_STATED if said.keys() & {"total_bytes", "usable_bytes"} else known.memory,
        compute=_STATED if said.keys() & {"peak_flops", "hbm_bytes_per_second"} else known.compute,
        links=_STATED if said.keys() & {"link_bytes_per_second", "network_bytes_per_second"} else known.links,
    )


def _sliced(device: Device, slices: Sequence[Slice]) -> Iterator[Device]:
    """The slices as devices: slices of one GPU reach each other over no link, so they have no step times."""
    for part in slices:
        size = part.total_bytes or part.usable_bytes
        share = size / (device.total_bytes or device.usable_bytes or size)
        products = [f"{each}-MIG-{part.name}" for each in device.labels.kubernetes_products if part.kind == "mig"]
        found = replace(
            device,
            id=f"{device.id}-{normalised(part.name)}",
            slice_of=device.id,
            origin="operator",
            marketing_gb=ceil(size / GIB),
            total_bytes=part.total_bytes,
            usable_bytes=part.usable_bytes,
            usable_max_bytes=None,
            reserve_bytes=0,
            hbm_bytes_per_second=device.hbm_bytes_per_second * min(share, 1.0),
            peak_flops=MappingProxyType({}),
            achieved_flops=MappingProxyType({}),
            link_kind="",
            link_bytes_per_second=None,
            peer_bytes_per_second=None,
            network_bytes_per_second=None,
            nvls_minimum_gpus=None,
            nvlink_domain=1,
            gpus_per_node=device.gpus_per_node * part.count,
            collectives=(),
            node_curves=(),
            aliases=tuple(f"{each}-{part.name}" for each in device.aliases),
            labels=replace(
                part.labels, kubernetes_products=tuple(dict.fromkeys([*products, *part.labels.kubernetes_products]))
            ),
            notes=f"A {part.kind} slice of {device.id}.",
        )
        yield replace(found, revision=_revision(found))


def _revision(device: Device) -> str:
    figures = {key: getattr(device, key) for key in _FIGURES}
    text = json.dumps({**figures, "peak_flops": dict(device.peak_flops)}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _stamp(definitions: Mapping[str, Definition]) -> bytes:
    if not definitions:
        return b""
    seen = hashlib.sha256()
    for name, definition in sorted(definitions.items()):
        seen.update(name.encode() + b"\0" + _DEFINITION.dump_json(definition))
    return seen.digest()


def definition_of(document: Mapping[str, object]) -> Definition:
    """Return the definition that a stored document holds. Raises pydantic's ValidationError."""
    return _DEFINITION.validate_python(document)


def document_of(definition: Definition) -> dict[str, object]:
    """Return a definition as a JSON document, to be stored; what is not said is not in it."""
    found: dict[str, object] = _DEFINITION.dump_python(definition, mode="json", exclude_defaults=True)
    return found
