"""A job as torchtitan's command line since 2026: a config function by name, and the options over it.

Keys: pytorch/torchtitan @ b5bcd76c, torchtitan/config/configs.py; batches are counted in tokens there.
"""

from service.formats.torchtitan.flavors import registered, registered_names, split_flavor
from service.formats.writers.sheet import Sheet
from service.formats.writers.torchtitan import (
    data_ranks,
    flavor_of,
    named_model,
    write_degrees,
    write_pipeline,
    write_shards,
)
from service.formats.writers.torchtitan_recipe import write_titan_recipe
from service.job.schema import Job

_VERSION = "torchtitan-2026-08"
_CHUNKS = 8


def torchtitan_registry_sheet(job: Job) -> Sheet:
    """The job as a config function and dotted options."""
    sheet = Sheet(job)
    _function(sheet)
    for key, name in (("fsdp2", "/framework/name"), (_VERSION, "/framework/version")):
        if sheet.get(name) == key:
            sheet.implied(name)
    _tokens(sheet)
    write_degrees(sheet, newer=True)
    write_shards(sheet)
    write_pipeline(sheet)
    write_titan_recipe(sheet, newer=True)
    if sheet.get("/kernels/cross_entropy") == "chunked" and sheet.get("/kernels/cross_entropy_chunks") == _CHUNKS:
        sheet.implied("/kernels/cross_entropy", "/kernels/cross_entropy_chunks")
    return sheet


def _function(sheet: Sheet) -> None:
    """The function of the model's flavor; what else it sets and no option takes back must be what the job says."""
    family, flavor = flavor_of(sheet)
    eight = sheet.get("/precision/fp8/recipe")
    for name in registered_names():
        found = registered(name) or {}
        plain, kernel = split_flavor(found["model"]["name"], found["model"]["flavor"])
        narrow = "quantization" in found
        if (found["model"]["name"], plain) != (family, flavor) or narrow != (eight == "current"):
            continue
        sheet.say("module", family)
        sheet.say("config", name)
        named_model(sheet)
        if kernel is not None and sheet.get("/kernels/attention") == kernel:
            sheet.implied("/kernels/attention")
        if narrow:
            sheet.implied("/precision/fp8/recipe")
        return


def _tokens(sheet: Sheet) -> None:
    """Slots of a micro-batch and of a step; a pipeline is told how many micro-batches pass it."""
    micro, whole, length = (sheet.get(f"/batch/{each}") for each in ("micro", "global", "sequence_length"))
    sheet.copy("training.max_context_length", "/batch/sequence_length")
    ranks = data_ranks(sheet)
    if not micro or not length:
        return
    sheet.say("training.num_tokens_per_microbatch_per_dp_rank", micro * length, "/batch/micro")
    if not whole or not ranks or whole % (micro * ranks):
        return
    rounds = whole // (micro * ranks)
    sheet.say("training.num_tokens_per_train_step", whole * length, "/batch/global")
    if (sheet.get("/parallelism/pipeline") or 1) > 1:
        sheet.say("parallelism.num_pp_microbatches", rounds)
    if sheet.get("/batch/accumulation") == rounds:
        sheet.implied("/batch/accumulation")
