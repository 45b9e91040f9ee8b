"""Facts that config files of trainers leave to others, asked for in one way: world size, model, sequence, batch."""

from collections.abc import Mapping
from types import MappingProxyType

from service.formats.draft import Draft
from service.job.diagnostics import Diagnostic

DIMENSIONS: Mapping[str, str] = MappingProxyType({
    "hidden_size": "/model/hidden_size",
    "num_hidden_layers": "/model/num_hidden_layers",
    "num_attention_heads": "/model/num_attention_heads",
    "intermediate_size": "/model/intermediate_size",
    "vocab_size": "/model/vocab_size",
})  # fmt: skip
"""What a model cannot be priced without."""


def ask_world_size(draft: Draft, message: str, fixes: tuple[str, ...] = ("pass world_size",)) -> None:
    """Asks for the number of GPUs, unless it is known in the end."""
    grid = _grid(draft)
    multiple = f"; it must be a multiple of {grid}" if grid > 1 else ""
    told = f"{message}; pass world_size{multiple}"
    needed = Diagnostic("world_size_needed", "info", told, ("/world_size",), "", "the number of GPUs", fixes)
    draft.lack("world_size", told, "/world_size", needed)
    if grid > 1:
        data = f"the world size must be a multiple of {grid}; data-parallel ranks are world size / {grid}"
        multiple_of = Diagnostic("world_must_be_multiple", "info", data, ("/world_size",), str(grid), data)
        draft.lack("world_size", told, "/world_size", multiple_of)


def _grid(draft: Draft) -> int:
    grid = 1
    for degree in ("tensor", "pipeline", "context"):
        value = draft.get(f"/parallelism/{degree}")
        grid *= value if isinstance(value, int) and 0 < value <= 1_000_000 else 1  # noqa: PLR2004  (the job's own bound)
    return grid


def ask_model(draft: Draft, message: str) -> None:
    """Asks for every dimension that is not known in the end."""
    if draft.get("/model/preset") is not None:
        return
    for fact, pointer in DIMENSIONS.items():
        if fact == "intermediate_size" and draft.get("/model/moe_intermediate_size") is not None:
            continue
        draft.lack(fact, f"{message}; pass model.{fact}", pointer)


def ask_sequence(draft: Draft, message: str) -> None:
    """Asks for the sequence length."""
    draft.lack("sequence_length", f"{message}; pass batch.sequence_length", "/batch/sequence_length")


def ask_micro(draft: Draft, message: str) -> None:
    """Asks for the micro-batch size."""
    draft.lack("micro", f"{message}; pass batch.micro", "/batch/micro")
