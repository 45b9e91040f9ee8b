"""What Hugging Face's trainer implies, and what a run on it says about hosts and frozen weights."""

from math import prod

from service.calculator import limits
from service.formats.draft import Draft


def fill_trainer_defaults(draft: Draft) -> None:
    """Defaults that hold for every trainer on transformers, whatever shards its states."""
    rule = "transformers TrainingArguments"
    draft.fill("/framework/transformer_impl", "hf", "default", "the layers are those of transformers")
    draft.fill("/optimizer/name", "adam", "default", f"{rule}: optim adamw_torch_fused")
    draft.fill("/checkpointing/granularity", "none", "default", f"{rule}: gradient_checkpointing false")
    draft.fill("/kernels/attention", "sdpa", "default", "transformers: SDPA where the model has it")
    for key in ("tensor", "pipeline", "context", "expert"):
        draft.fill(f"/parallelism/{key}", 1, "default", f"{rule}: absent degrees are 1")


def fill_global_batch(draft: Draft) -> None:
    """The global batch follows from micro-batch, accumulation and data-parallel ranks, where all are known."""
    world = draft.get("/world_size")
    grid = [draft.get(f"/parallelism/{key}") or 1 for key in ("tensor", "pipeline", "context")]
    numbers = (world, draft.get("/batch/micro"), draft.get("/batch/accumulation"), *grid)
    if not all(isinstance(each, int) and 0 < each <= limits.GLOBAL_BATCH for each in numbers):
        return
    ranks, left = divmod(world, prod(grid))
    if not left:
        rule = "micro-batch x accumulation x data-parallel ranks"
        draft.fill("/batch/global", prod(numbers[1:3]) * ranks, "derived", rule)


def note_offload(draft: Draft) -> None:
    """Says what states on the host need there."""
    if draft.get("/optimizer/offload") in (None, "none") and draft.get("/optimizer/parameter_offload") in (
        None,
        "none",
    ):
        return
    draft.note(
        "host_memory",
        "info",
        "offloaded states live in host memory: 12 to 16 bytes for each parameter, shared by the nodes",
        fields=["/optimizer/offload", "/optimizer/parameter_offload"],
    )


def note_frozen(draft: Draft) -> None:
    """Says that adapters leave the base without gradients and optimizer states."""
    if draft.get("/adapters/type") is not None:
        message = "the base weights are frozen: gradients and optimizer states are kept for the adapters alone"
        draft.note("frozen_base", "info", message, fields=["/adapters/type"])
