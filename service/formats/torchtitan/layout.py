"""torchtitan's degrees, in both generations, with the rules that tie them together.

Rules: pytorch/torchtitan @ 238fa995 (TOML) and @ b5bcd76c, torchtitan/distributed/parallel_dims.py.
"""

from dataclasses import dataclass

from service.formats.config.settings import Settings
from service.formats.draft import Draft

_SECTIONS = ("parallelism", "training", "experimental")
_FULL = 3


@dataclass(frozen=True, slots=True)
class Degrees:
    """Degrees as far as they are known; `shard` is None while it is the rest of an unknown world."""

    tensor: int
    pipeline: int
    context: int
    replicate: int
    shard: int | None

    @property
    def data(self) -> int | None:
        """Ranks that get different data."""
        return None if self.shard is None else self.replicate * self.shard


def spelled(name: str) -> tuple[str, ...]:
    """A degree's key in the section of today and in those of earlier states."""
    return tuple(f"{section}.{name}" for section in _SECTIONS)


def read_degrees(settings: Settings, draft: Draft, *, newer: bool) -> Degrees:
    """Writes degrees, sharding and the number of GPUs that they make; T1 and T4."""
    names = {
        "tensor": "tensor_parallel_degree",
        "pipeline": "pipeline_parallel_degree",
        "context": "context_parallel_degree",
        "expert": "expert_parallel_degree",
    }
    for key, name in names.items():
        settings.put(f"/parallelism/{key}", *spelled(name))
        draft.fill(f"/parallelism/{key}", 1, "default", f"torchtitan: {name} 1")
    _sequence(settings, draft)
    replicate = settings.integer(*spelled("data_parallel_replicate_degree"))
    shard = settings.integer(*spelled("data_parallel_shard_degree"), *spelled("data_parallel_degree"))
    grid = [positive(draft.get(f"/parallelism/{key}")) for key in ("tensor", "pipeline", "context")]
    degrees = _world(draft, grid, positive(replicate or 1), -1 if shard is None else shard)
    _shards(draft, degrees)
    _experts(settings, draft, degrees, newer=newer)
    _resharding(settings, draft)
    return degrees


def positive(value: object) -> int:
    """A degree, or 1 while it is not known or not one."""
    return value if isinstance(value, int) and value > 0 else 1


def _sequence(settings: Settings, draft: Draft) -> None:
    """Norms and residuals are always split over the tensor group, unless a later state is told otherwise."""
    tensor = draft.get("/parallelism/tensor")
    on = settings.put_switch("/parallelism/sequence", "parallelism.enable_sequence_parallel")
    if tensor == 1:
        draft.set("/parallelism/sequence", False, "derived", "torchtitan: nothing to split at tensor parallelism 1")
    elif on is None:
        draft.fill(
            "/parallelism/sequence", True, "default", "torchtitan: sequence parallelism comes with the tensor degree"
        )
    settings.put_switch(
        "/parallelism/async_tensor", *spelled("enable_async_tensor_parallel"), "compile.enable_async_tensor_parallel"
    )
    draft.fill("/parallelism/async_tensor", False, "default", "torchtitan: enable_async_tensor_parallel false")
    lost = settings.on(*spelled("disable_loss_parallel"), *spelled("enable_loss_parallel"))
    if isinstance(tensor, int) and tensor > 1:
        off = bool(lost) and settings.find(*spelled("disable_loss_parallel")) is not None
        where = (
            settings.where(*spelled("disable_loss_parallel"))
            if off
            else "torchtitan: loss parallel with tensor parallelism"
        )
        draft.set("/kernels/vocab_parallel_loss", not off, settings.origin if off else "default", where)
    rotate = settings.text(*spelled("context_parallel_rotate_method"))
    if rotate is not None and (draft.get("/parallelism/context") or 1) > 1:
        method = "all_gather" if rotate.lower() == "allgather" else "p2p"
        where = settings.where(*spelled("context_parallel_rotate_method"))
        draft.set("/parallelism/context_method", method, settings.origin, where)


def _world(draft: Draft, grid: list[int], replicate: int, shard: int) -> Degrees:
    tensor, pipeline, context = grid
    product = tensor * pipeline * context * replicate
    world = draft.get("/world_size")
    listed = f"replicate {replicate} x context {context} x tensor {tensor} x pipeline {pipeline}"
    fields = ["/world_size", "/parallelism/tensor", "/parallelism/pipeline", "/parallelism/context"]
    if shard < 1:
        if isinstance(world, int) and world % product:
            _refuse_world(draft, f"{world} GPUs are no multiple of {listed} = {product}", world, product, fields)
        known = world // product if isinstance(world, int) and world % product == 0 else None
        return Degrees(tensor, pipeline, context, replicate, known)
    total = product * shard
    if world is None:
        draft.set("/world_size", total, "derived", f"torchtitan: {listed} x shard {shard}")
    elif world != total:
        message = f"{listed} x shard {shard} = {total}, but {world} GPUs run"
        rule = "the product of all degrees is the world size"
        fixes = [f"world_size: {total}", "parallelism.data_parallel_shard_degree: -1"]
        draft.note("world_size_mismatch", "error", message, fields=fields, found=str(total), rule=rule, fixes=fixes)
    return Degrees(tensor, pipeline, context, replicate, shard)


def _refuse_world(draft: Draft, message: str, world: int, product: int, fields: list[str]) -> None:
    """The fields are those of the general rule about it, which is said once."""
    nearest = [each for each in (world // product * product, (world // product + 1) * product) if each]
    draft.note(
        "world_size_not_divisible",
        "error",
        message,
        fields=fields,
        found=f"{world}, {product}",
        rule="the world size is a multiple of the product of all degrees",
        fixes=[f"world_size: {each}" for each in nearest],
    )


def _shards(draft: Draft, degrees: Degrees) -> None:
    """Weights are sharded over the shard and context ranks, copied over the replicas; without shards it is DDP."""
    if degrees.shard == 1 and degrees.context == 1:
        name = "ddp" if degrees.replicate > 1 else "fsdp2"
        draft.set("/framework/name", name, "derived", "torchtitan: nothing is sharded over one rank")
        draft.set("/sharding/stage", 0, "derived", "torchtitan: data_parallel_shard_degree 1")
        return
    draft.set("/framework/name", "fsdp2", "derived", "torchtitan shards with FSDP2")
    draft.fill("/sharding/stage", _FULL, "default", "torchtitan: weights, gradients and states are sharded")
    if degrees.replicate > 1 and degrees.shard is not None:
        degree = degrees.shard * degrees.context
        draft.set("/sharding/degree", degree, "derived", "torchtitan: shard x context, one copy for each replica")


def _experts(settings: Settings, draft: Draft, degrees: Degrees, *, newer: bool) -> None:
    """T4: experts borrow ranks of the data and tensor groups; only TOML files may split one over tensor ranks."""
    expert = positive(draft.get("/parallelism/expert"))
    keys = spelled("expert_tensor_parallel_degree")
    within = settings.integer(*keys, pointer="/parallelism/expert_tensor")
    if newer and within is not None:
        message = f"{settings.where(*keys)} has no effect: experts are not split over tensor ranks since 2026"
        draft.note("ignored_option", "warning", message, fields=["/parallelism/expert_tensor"], found=str(within))
        within = None
    if draft.get("/model/num_experts") is not None or within is not None:
        where = settings.where(*keys) if within is not None else "torchtitan: experts are whole on their rank"
        origin = settings.origin if within is not None else "default"
        draft.set("/parallelism/expert_tensor", within or 1, origin, where)
    if expert > 1 and within not in {None, 1, degrees.tensor}:
        choices = f"1 or the tensor degree {degrees.tensor}"
        message = f"{settings.where(*keys)} is {within}; with experts in parallel it is {choices}"
        fields = ["/parallelism/expert_tensor", "/parallelism/tensor"]
        fixes = [f"{keys[0]}: 1", f"{keys[0]}: {degrees.tensor}"]
        draft.note("expert_grid_not_divisible", "error", message, fields=fields, found=str(within), fixes=fixes)
    region = None if degrees.shard is None else degrees.shard * degrees.context * degrees.tensor
    if expert > 1 and region is not None and region % expert:
        message = f"expert degree {expert} does not divide shard x context x tensor = {region}"
        fields = ["/parallelism/expert", "/world_size"]
        rule = "the expert degree divides shard x context x tensor"
        draft.note("expert_grid_not_divisible", "error", message, fields=fields, found=str(expert), rule=rule)


def _resharding(settings: Settings, draft: Draft) -> None:
    kinds = {"default": "default", "always": "always", "never": "never"}
    settings.put_choice("/sharding/reshard_after_forward", kinds, *spelled("fsdp_reshard_after_forward"))
    if draft.get("/sharding/stage") == _FULL:
        draft.fill(
            "/sharding/reshard_after_forward", "default", "default", "torchtitan: fsdp_reshard_after_forward default"
        )
