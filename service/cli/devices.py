"""`memplan devices`: the GPUs that are known by name, and where their figures come from."""

import argparse

from service.api.schemas.device import DeviceAnswer, DeviceList
from service.cli.server import print_json, remote
from service.cli.tables import console, gib, table
from service.usecases.current_devices import Listing


def run(options: argparse.Namespace) -> int:
    """Print a row for each device, or the answer of the HTTP interface."""
    service = remote(options)
    if service is None:
        listing = Listing()
        found = DeviceList(items=[DeviceAnswer.of(each) for each in listing.all()])
    else:
        found = service.get("/v1/devices", DeviceList)
    if options.json:
        print_json(found)
    else:
        _show(found)
    return 0


def _show(found: DeviceList) -> None:
    shown = table("Devices", left=("id", "architecture"))
    for name in ("total GiB", "usable GiB", "GPUs per node"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("other names", overflow="fold")
    for each in found.items:
        sizes = ("" if size is None else gib(size) for size in (each.total_bytes, each.usable_bytes))
        shown.add_row(each.id, each.architecture, *sizes, str(each.gpus_per_node), ", ".join(each.aliases))
    console().print(shown)
