"""accelerate's ParallelismConfig: degrees whose product is the number of processes.

Rules: huggingface/accelerate @ 16cb6eb8, parallelism_config.py.
"""

from math import prod

from service.formats.config.settings import Settings
from service.formats.draft import Draft

_SECTION = "parallelism_config"
SIZES = ("dp_replicate", "dp_shard", "tp", "cp", "sp")


def keys_of(size: str) -> tuple[str, ...]:
    """The spellings of one size: inside the section with its prefix or without."""
    return f"{_SECTION}.{_SECTION}_{size}_size", f"{_SECTION}.{size}_size"


def read_parallelism(settings: Settings, draft: Draft, engine: str) -> None:
    """Writes the degrees and checks them against the processes; D6."""
    if not settings.under(_SECTION):
        return
    pointers = {"tp": "/parallelism/tensor", "cp": "/parallelism/context", "sp": "/parallelism/context"}
    sizes: dict[str, int] = {}
    for size in SIZES:
        keys = keys_of(size)
        value = settings.integer(*keys, pointer=pointers.get(size, "/sharding/degree"))
        if value is None:
            continue
        if value < 1:
            message = f"{settings.where(*keys)} is {value}; it must be at least 1"
            draft.note("value_type", "error", message, fields=[pointers.get(size, "/world_size")], found=str(value))
            continue
        sizes[size] = value
        if size in pointers and (value > 1 or size != "sp"):
            draft.set(pointers[size], value, settings.origin, settings.where(*keys))
    if sizes.get("sp", 1) > 1:
        draft.fill("/parallelism/context_method", "a2a", "derived", "DeepSpeed-Ulysses")
    _shards(sizes, draft)
    _check(sizes, draft, engine)


def _shards(sizes: dict[str, int], draft: Draft) -> None:
    """Copies of the states, and the ranks that share one."""
    replicas, shards = sizes.get("dp_replicate", 1), sizes.get("dp_shard", 1)
    if replicas > 1 and shards > 1:
        degree = shards * sizes.get("cp", 1)
        draft.set("/sharding/degree", degree, "derived", "dp_shard_size x cp_size, one copy in each replica")


def _check(sizes: dict[str, int], draft: Draft, engine: str) -> None:
    product, world = prod(sizes.values()), draft.get("/world_size")
    listed = " x ".join(f"{size} {value}" for size, value in sizes.items())
    fields = ["/world_size", "/parallelism/tensor", "/parallelism/context"]
    ulysses = sizes.get("sp", 1) > 1
    if isinstance(world, int) and product not in {world, 1} and not ulysses:
        message = f"{listed} = {product}, but {world} processes run"
        rule = "the product of all sizes is num_processes"
        fixes = [f"num_processes: {product}"]
        draft.note("world_size_mismatch", "error", message, fields=fields, found=str(product), rule=rule, fixes=fixes)
    elif world is None and product > 1 and not ulysses:
        draft.set("/world_size", product, "derived", f"{_SECTION}: {listed}")
    if sizes.get("cp", 1) > 1 and ulysses:
        message = f"context and sequence parallelism exclude each other: {listed}"
        draft.note("parallelism_conflict", "error", message, fields=fields[2:], rule="cp_size or sp_size is 1")
    if sizes.get("dp_replicate", 1) > 1 == sizes.get("dp_shard", 1) and max(sizes.get("tp", 1), sizes.get("cp", 1)) > 1:
        message = f"tensor and context parallelism need sharded data parallelism: {listed}"
        draft.note("parallelism_conflict", "error", message, fields=fields, rule="dp_shard_size above 1")
    if product > 1 and engine == "fsdp1":
        message = f"{_SECTION} needs FSDP version 2, DeepSpeed or plain data parallelism"
        fixes = ["fsdp_config.fsdp_version: 2"]
        draft.note("parallelism_conflict", "error", message, fields=["/framework/name"], found=engine, fixes=fixes)
    _heads(sizes, draft)


def _heads(sizes: dict[str, int], draft: Draft) -> None:
    """Heads are exchanged for parts of the sequence, so their number is a multiple of the degree."""
    for size, pointer in (("sp", "/parallelism/context"), ("tp", "/parallelism/tensor")):
        degree = sizes.get(size, 1)
        for key in ("num_attention_heads", "num_key_value_heads"):
            heads = draft.get(f"/model/{key}")
            if isinstance(heads, int) and heads % degree:
                code = "heads_tp" if key == "num_attention_heads" else "kv_heads_tp"
                message = (
                    f"{heads} {'key/value ' if code == 'kv_heads_tp' else ''}heads cannot be shared by {size} {degree}"
                )
                rule = f"the heads are a multiple of {size}_size"
                found = f"{heads}, {degree}"
                draft.note(code, "error", message, fields=[f"/model/{key}", pointer], found=found, rule=rule)
