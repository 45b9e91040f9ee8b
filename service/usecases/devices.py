"""The devices that jobs can be planned for."""

from collections.abc import Sequence

from service.calculator.device import Accelerator
from service.catalog.devices import Device, UnknownDevice, find_device, load_devices
from service.usecases.errors import NoSuchDevice


def list_devices() -> Sequence[Device]:
    """Return all devices of the catalogue, in its order."""
    return tuple(load_devices().values())


def device_of(name: str, field: str) -> Device:
    """Return the device of an id, alias or scheduler label.

    Raises NoSuchDevice, with `field` as the place of the name in the question.
    """
    try:
        return find_device(name)
    except UnknownDevice as error:
        raise NoSuchDevice(name, field, error.matches) from None


def knows_links(device: Device) -> bool:
    """Whether step times can be computed: both bandwidths have a figure."""
    return device.link_bytes_per_second is not None and device.network_bytes_per_second is not None


def accelerator_of(device: Device, gpus_per_node: int | None = None) -> Accelerator:
    """Return the device as the calculator sees it, in nodes of its usual size or of the one given.

    What has no figure is 0 here: a verdict needs `usable_bytes`, a time needs `knows_links`. Without a driver's
    listing the total is what a process can use, which is the lesser.
    """
    usable = device.usable_bytes or 0
    return Accelerator(
        name=device.id,
        vendor=device.vendor,
        architecture=device.architecture,
        total_bytes=device.total_bytes or usable,
        usable_bytes=usable,
        gpus_per_node=gpus_per_node or device.gpus_per_node,
        memory_bytes_per_second=device.hbm_bytes_per_second,
        peak_flops=device.peak_flops,
        link_bytes_per_second=device.link_bytes_per_second or 0.0,
        network_bytes_per_second=device.network_bytes_per_second or 0.0,
    )
