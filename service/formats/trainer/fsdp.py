"""An FSDP section as accelerate, transformers and axolotl write it: versions 1 and 2, prefixed keys or plain ones.

Rules: huggingface/accelerate @ 16cb6eb8, utils/dataclasses.py (FullyShardedDataParallelPlugin), utils/constants.py.
"""

from collections.abc import Mapping, Sequence

from service.formats.config.settings import Settings
from service.formats.draft import Draft

# Strategy: stage, and whether its copies are per node.
_STRATEGIES: Mapping[str, tuple[int, bool]] = {
    "full_shard": (3, False),
    "shard_grad_op": (2, False),
    "no_shard": (0, False),
    "hybrid_shard": (3, True),
    "hybrid_shard_zero2": (2, True),
    "_hybrid_shard_zero2": (2, True),
}
_NUMBERED = ("full_shard", "shard_grad_op", "no_shard", "hybrid_shard", "hybrid_shard_zero2")
_FULL = 3
NAMES = (
    "version", "sharding_strategy", "reshard_after_forward", "offload_params", "cpu_offload",
    "activation_checkpointing",
    "auto_wrap_policy", "transformer_layer_cls_to_wrap", "backward_prefetch", "backward_prefetch_policy",
    "forward_prefetch", "state_dict_type", "final_state_dict_type", "use_orig_params", "sync_module_states",
    "cpu_ram_efficient_loading", "min_num_params", "limit_all_gathers", "ignored_modules", "mixed_precision_policy",
    "activation_cpu_offload", "cpu_offload_pin_memory", "xla", "xla_fsdp_v2", "xla_fsdp_grad_ckpt", "fsdp_version",
)  # fmt: skip
"""Keys of an FSDP section, without their prefix."""


def keyed(prefix: str, name: str) -> tuple[str, ...]:
    """A key's spellings: with the `fsdp_` prefix and without, inside the section."""
    return f"{prefix}.fsdp_{name}", f"{prefix}.{name}"


def fsdp_version(settings: Settings, prefix: str) -> int:
    """1 or 2; absent means 1, unless only version 2 has such a value."""
    stated = settings.integer(*keyed(prefix, "version"), "fsdp_version", pointer="/framework/name")
    if stated is not None:
        return 1 if stated == 1 else 2
    return 2 if isinstance(settings.raw(*keyed(prefix, "reshard_after_forward")), bool) else 1


def outside_words(settings: Settings, key: str) -> list[str]:
    """What stands outside the section, as in transformers' `fsdp: full_shard auto_wrap offload`; a list or one text."""
    value = settings.raw(key)
    if isinstance(value, bool):
        return ["full_shard"] if value else []
    words = value if isinstance(value, list) else str(value or "").replace(",", " ").split()
    return [str(each) for each in words]


def read_fsdp(settings: Settings, prefix: str, draft: Draft, *, outside: Sequence[str] = ()) -> int:
    """Writes framework, stage, resharding, offload and checkpointing; returns the version.

    `outside` are the words that stand outside the section.
    """
    version = fsdp_version(settings, prefix)
    keys = keyed(prefix, "version")
    origin = settings.origin if settings.find(*keys, "fsdp_version") else "default"
    rule = settings.where(*keys, "fsdp_version") if origin != "default" else "accelerate: fsdp_version 1"
    draft.set("/framework/name", f"fsdp{version}", origin, rule)
    strategy = next((each for each in outside if "shard" in each), None)
    _strategy(settings, prefix, draft, strategy, version)
    _reshard(settings, prefix, draft, version)
    offload = (*keyed(prefix, "offload_params"), *keyed(prefix, "cpu_offload"))
    if settings.on(*offload, pointer="/optimizer/parameter_offload") or "offload" in outside:
        where = settings.where(*offload) if settings.find(*offload) else "fsdp: offload"
        for pointer in ("/optimizer/parameter_offload", "/optimizer/offload"):
            draft.set(pointer, "cpu", settings.origin, where)
    checkpointing = keyed(prefix, "activation_checkpointing")
    on = settings.on(*checkpointing, pointer="/checkpointing/granularity")
    if on:
        draft.set("/checkpointing/granularity", "full", settings.origin, settings.where(*checkpointing))
    if settings.on(*keyed(prefix, "activation_cpu_offload")):
        where = settings.where(*keyed(prefix, "activation_cpu_offload"))
        draft.set("/checkpointing/offload", "inputs", settings.origin, where)
    return version


def _strategy(settings: Settings, prefix: str, draft: Draft, outside: str | None, version: int) -> None:
    keys = keyed(prefix, "sharding_strategy")
    text = settings.text(*keys, pointer="/sharding/stage") or outside
    if text is None:
        rule = "accelerate: fsdp_sharding_strategy FULL_SHARD" if version == 1 else "FSDP2 shards weights, too"
        draft.fill("/sharding/stage", _FULL, "default", rule)
        return
    named = _NUMBERED[int(text) - 1] if text in {"1", "2", "3", "4", "5"} else text.lower()
    if named not in _STRATEGIES:
        settings.refuse(f'the text "{text[:60]}" is none of {", ".join(_NUMBERED)}', *keys, pointer="/sharding/stage")
        return
    stage, per_node = _STRATEGIES[named]
    where = settings.where(*keys) if settings.find(*keys) else f"fsdp: {outside}"
    draft.set("/sharding/stage", stage, settings.origin, where)
    if per_node:
        _copies_per_node(settings, draft, where)


def _copies_per_node(settings: Settings, draft: Draft, where: str) -> None:
    """Hybrid sharding keeps one copy on every node, so the sharding degree is the GPUs of a node."""
    nodes = settings.integer("num_machines") or 1
    world = draft.get("/world_size")
    if isinstance(world, int) and nodes > 0 and world % nodes == 0:
        draft.set("/sharding/degree", world // nodes, "derived", f"{where}: one copy on each of {nodes} nodes")
    else:
        draft.lack("degree", f"{where}: the GPUs of one node are not stated; pass sharding.degree", "/sharding/degree")


def _reshard(settings: Settings, prefix: str, draft: Draft, version: int) -> None:
    """Version 2 says with a switch what version 1 says with a strategy; version 1 files may spell a strategy here."""
    keys = keyed(prefix, "reshard_after_forward")
    value = settings.raw(*keys)
    if value is None:
        return
    if isinstance(value, str) and value.strip().lower() in _STRATEGIES:
        stage, _ = _STRATEGIES[value.strip().lower()]
        draft.set("/sharding/stage", stage, settings.origin, settings.where(*keys))
        return
    on = settings.on(*keys, pointer="/sharding/reshard_after_forward")
    if on is not None and version > 1:
        kept = "always" if on else "never"
        draft.set("/sharding/reshard_after_forward", kept, settings.origin, settings.where(*keys))


def write_fsdp_precision(draft: Draft, compute: str, where: str, version: int) -> None:
    """FSDP's mixed precision: shards in fp32, computation and reduction in 16 bits."""
    draft.set("/precision/compute", compute, "key", where)
    if compute == "fp32":
        draft.fill("/precision/parameters", "fp32", "derived", where)
        return
    draft.fill("/precision/parameters", "fp32", "default", f"accelerate: FSDP{version} upcasts its shards")
    draft.fill("/precision/master", "none", "derived", "the shards are the fp32 weights")
    draft.fill("/precision/gradients", "fp32", "derived", "gradients have the type of the shards")
    draft.fill("/precision/reduce", compute, "default", "accelerate: gradients are reduced in the compute type")
    message = (
        f"whether FSDP{version} keeps weights in fp32 depends on accelerate's version and on the type they are loaded "
        "in; fp32 is taken, which needs the most memory"
    )
    fixes = ["precision.parameters: bf16"] if compute == "bf16" else []
    draft.note("master_weights", "info", message, fields=["/precision/parameters", "/precision/master"], fixes=fixes)
