"""The devices that jobs can be planned for."""

from service.calculator.device import Accelerator, Bandwidth
from service.catalog.devices import Collective, Device, Devices, UnknownDevice, built_in
from service.usecases.errors import NoSuchDevice


def device_of(name: str, field: str, devices: Devices | None = None) -> Device:
    """Return the device of an id, alias or scheduler label, among these devices or else those of the catalogue.

    Raises NoSuchDevice, with `field` as the place of the name in the question.
    """
    try:
        return (devices or built_in()).find(name)
    except UnknownDevice as error:
        raise NoSuchDevice(name, field, error.matches) from None


def id_of(name: str, devices: Devices) -> str:
    """Return the id that a name leads to, or the name itself: what was stored of a device outlives it."""
    try:
        return devices.find(name).id
    except UnknownDevice:
        return name


def knows_links(device: Device) -> bool:
    """Whether step times can be computed: both bandwidths have a figure."""
    return device.link_bytes_per_second is not None and device.network_bytes_per_second is not None


def accelerator_of(device: Device, gpus_per_node: int | None = None) -> Accelerator:
    """Return the device as the calculator sees it, in nodes of its usual size or of the one given.

    What has no figure is 0 here: a verdict needs `usable_bytes`, a time needs `knows_links`. Without a driver's
    listing the total is what a process can use, which is the lesser. Links reach beyond a node where the device's own
    do, as in a rack of GB200.
    """
    usable = device.usable_bytes or 0
    nodes = gpus_per_node or device.gpus_per_node
    return Accelerator(
        name=device.id,
        vendor=device.vendor,
        architecture=device.architecture,
        total_bytes=device.total_bytes or usable,
        usable_bytes=usable,
        gpus_per_node=nodes,
        memory_bytes_per_second=device.hbm_bytes_per_second,
        peak_flops=device.peak_flops,
        link_bytes_per_second=device.link_bytes_per_second or 0.0,
        network_bytes_per_second=device.network_bytes_per_second or 0.0,
        achieved_flops=device.achieved_flops,
        inside=_inside(device),
        between=_between(device),
        link_domain=max(nodes, device.nvlink_domain) if device.nvlink_domain > device.gpus_per_node else nodes,
        peer_bytes_per_second=device.peer_bytes_per_second,
        shares_bus=device.link_kind.startswith("PCIe"),
    )


def _inside(device: Device) -> tuple[Bandwidth, ...]:
    """Measured collectives inside a node; a figure without a fixed cost is a plateau that short messages never see."""
    found: dict[str, list[Collective]] = {}
    for each in device.collectives:
        if each.latency_seconds is not None:
            found.setdefault(each.operation, []).append(each)
    return tuple(
        Bandwidth(
            operation=operation,
            sizes=tuple(each.gpus for each in curve),
            rates=tuple(each.bytes_per_second for each in curve),
            seconds=tuple(each.latency_seconds or 0.0 for each in curve),
        )
        for operation, curve in found.items()
    )


def _between(device: Device) -> tuple[Bandwidth, ...]:
    """Measured collectives between full nodes, as shares of what their adapters could carry."""
    adapters = device.gpus_per_node * (device.network_bytes_per_second or 0.0)
    return tuple(
        Bandwidth(each.operation, each.nodes, tuple(rate / adapters for rate in each.bytes_per_second))
        for each in device.node_curves
        if adapters
    )
