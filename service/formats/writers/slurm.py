"""What Slurm is asked for, and the launch that fits it."""

from service.formats.writers.sheet import Sheet
from service.job.schema import Job


def slurm_sheet(job: Job, gpus_per_node: int, gres_type: str) -> Sheet:
    """The job's size as options of sbatch: equal nodes, one launcher on each."""
    sheet = Sheet(job)
    world = sheet.get("/world_size")
    if world is None:
        return sheet
    gpus = gpus_per_node if world % gpus_per_node == 0 else world
    sheet.say("nodes", world // gpus)
    sheet.say("ntasks-per-node", 1)
    sheet.say("gpus-per-node", f"{gres_type}:{gpus}" if gres_type else str(gpus), "/world_size")
    return sheet
