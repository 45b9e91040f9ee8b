"""What Slurm is asked for, and the launch that fits it."""

from service.catalog.devices import UnknownDevice, find_device
from service.formats.writers.sheet import Sheet
from service.job.schema import Job


def slurm_sheet(job: Job, gpus_per_node: int, device: str | None) -> Sheet:
    """The job's size as options of sbatch: equal nodes, one launcher on each."""
    sheet = Sheet(job)
    world = sheet.get("/world_size")
    if world is None:
        return sheet
    gpus = gpus_per_node if world % gpus_per_node == 0 else world
    sheet.say("nodes", world // gpus)
    sheet.say("ntasks-per-node", 1)
    sheet.say("gpus-per-node", f"{_kind(device)}{gpus}", "/world_size")
    return sheet


def _kind(device: str | None) -> str:
    """The GPU's name in Slurm's own words, with a colon behind it; nothing where the catalogue has none."""
    try:
        kinds = find_device(device).labels.gres_types if device else ()
    except UnknownDevice:
        kinds = ()
    return f"{kinds[0]}:" if kinds else ""
