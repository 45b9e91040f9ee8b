"""Megatron-Bridge's performance scripts: Megatron's own flags over a recipe that is taken by name.

Source: NVIDIA-NeMo/Megatron-Bridge, scripts/performance (argument_parser.py, utils/overrides.py).
"""

import re

from service.formats.config.published import write_named_model
from service.formats.draft import Draft
from service.formats.megatron.flags import Flags

_NAME = "model_recipe_name"
# Options of the launcher, of data and of logging; what a recipe's name decides is read below.
RECIPE_FLAGS = frozenset({
    "gpu", "num_gpus", "gpus_per_node", "gpus_per_host", "model_family_name", "model_recipe_name", "model_size",
    "compute_dtype", "max_steps", "task", "domain", "cuda_graph_scope", "use_recipes", "precision", "dataset",
    "fp8_recipe",
})  # fmt: skip


def read_recipe_name(flags: Flags, draft: Draft) -> bool:
    """Writes the model of a recipe, and what recipes set without being asked; False when no recipe is named."""
    name = flags.text(_NAME, "/model/preset")
    if name is None:
        return False
    where = flags.where(_NAME)
    if not write_named_model(draft, re.sub(r"^llama3(\d)_", r"llama-3.\1-", name), where):
        draft.lack(
            name, f"{where}: the recipe {name} is not in the built-in table; pass the model", "/model/hidden_size"
        )
    size = flags.integer("num_gpus", "/world_size")
    draft.set("/world_size", size, flags.origin, flags.where("num_gpus") if size else "")
    dtype = flags.text("compute_dtype", "/precision/compute")
    if dtype is not None:
        compute = "bf16" if dtype.startswith(("bf16", "fp8", "nvfp4")) else dtype
        draft.set("/precision/compute", compute, flags.origin, flags.where("compute_dtype"))
    draft.set("/sharding/stage", 1, "assumed", "recipes use the distributed optimizer")
    return True


def read_recipe_layout(draft: Draft) -> None:
    """Recipes split the sequence wherever they split tensors."""
    tensor = draft.get("/parallelism/tensor")
    if draft.origin("/parallelism/sequence") == "default" and isinstance(tensor, int):
        draft.set("/parallelism/sequence", tensor > 1, "assumed", "recipes use sequence parallelism at tp > 1")
