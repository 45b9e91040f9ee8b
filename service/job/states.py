"""How a job's framework keeps weights, gradients and optimizer states: defaults, refusals, and the recipe's parts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from service.calculator.ledgers import SPLIT_BACKWARD
from service.calculator.recipe import Adapters, Fp8, Optimizer, Sharding, Swap
from service.catalog.profiles import MEGATRON_LAYERS, Profile
from service.catalog.titan import is_whole_graph, titan_habits
from service.catalog.versions import stated_date, stated_period
from service.job.diagnostics import Origin
from service.job.families import known_model_types
from service.job.kernels import stacks_experts
from service.job.values import Values

FULLY_SHARDED = frozenset({"fsdp2", "fsdp1"})
REPLICATED = frozenset({"ddp", "hf-trainer"})
WEIGHTS = 3
"""The sharding stage at which weights are sharded too."""

STAGES: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "megatron-core": (0, 1, 2, WEIGHTS),
        "deepspeed": (0, 1, 2, WEIGHTS),
        "fsdp2": (2, WEIGHTS),
        "fsdp1": (2, WEIGHTS),
        "ddp": (0,),
        "hf-trainer": (0,),
    }
)
"""What each framework can shard, of what is itemised here."""

EXPERTS_BY_MODULE_NAMES = frozenset(
    {"mixtral", "minimax", "minimax_m2", "qwen2_moe", "qwen3_moe", "qwen3_next", "deepseek_v2", "deepseek_v3", "olmoe",
     "glm4_moe", "dots1", "ernie4_5_moe", "flex_olmo", "hunyuan_v1_moe", "afmoe", "exaone_moe", "longcat_flash"}
)  # fmt: skip
"""Model types whose stacked experts PEFT finds by the names that their modules had: transformers 5.24.0,
conversion_mapping.py, the patterns of Mixtral and Qwen2-MoE."""

EXPERT_MODULES = frozenset({"gate", "up", "down"})
BRANCHES = frozenset({"gate", "up"})
GATED = frozenset({"swiglu", "geglu"})
ENGINE, AO, TENSORWISE = "transformer_engine", "torchao", "current"
RECIPES = {
    ENGINE: ("delayed", TENSORWISE, "blockwise", "mxfp8", "nvfp4"),
    AO: (TENSORWISE, "mxfp8"),
}
"""What each library scales by; torchao's delayed scaling went with its 0.9."""


def fill_states(values: Values, profile: Profile) -> None:
    """Defaults of precision, optimizer, sharding and adapters, each reported with the profile or rule behind it."""
    where = profile.identity

    def fill(pointer: str, value: Any, rule: str = where) -> None:
        values.fill(pointer, value, "default", rule)

    fill("/precision/compute", profile.compute)
    compute = values.get("/precision/compute")
    fill("/precision/parameters", compute if profile.parameters == "compute" else profile.parameters)
    parameters = values.get("/precision/parameters")
    fill("/precision/master", profile.master if parameters != "fp32" else "none")
    kept = {"compute": compute, "parameters": compute if parameters == "fp8" else parameters}.get(
        profile.gradients, profile.gradients
    )
    if _shards_units(values):
        # --megatron-fsdp-main-grads-dtype auto; torch's gradients have the weights' type.
        fill("/sharding/implementation", "megatron_fsdp")
        kept = compute if parameters == "fp8" else parameters
    fill("/precision/gradients", "fp16" if compute == "fp16" and kept == "fp32" else kept)
    fill("/precision/reduce", {"compute": compute, "gradients": values.get("/precision/gradients")}[profile.reduce])
    if profile.autocasts and parameters == "fp32" and compute != "fp32":
        fill("/precision/autocast", value=True)
    if values.get("/adapters") is not None:
        fill("/adapters/dtype", compute if profile.adapters == "compute" else profile.adapters)
    _fill_optimizer(values, fill)
    _fill_sharding(values, profile, fill)


def fill_eight_bits(values: Values, profile: Profile) -> None:
    """The library and the recipe of 8-bit training that names none: delayed scaling, or torchao's by tensor.

    accelerate takes torchao where it is installed, then Transformer Engine, unless told (accelerator.py @ 16cb6eb8).
    """
    recipe, titan = values.get("/precision/fp8/recipe"), values.get("/framework/transformer_impl") == "titan"
    if recipe is not None and recipe not in (RECIPES[AO] if titan else (TENSORWISE,)):
        values.fill("/precision/fp8/backend", ENGINE, "derived", f"scaling by {recipe} is Transformer Engine's")
    origin: Origin = "default" if profile.name in {"megatron-core", "fsdp2"} else "assumed"
    values.fill("/precision/fp8/backend", profile.eight_bits, origin, profile.identity)
    scaling = TENSORWISE if values.get("/precision/fp8/backend") == AO else "delayed"
    values.fill("/precision/fp8/recipe", scaling, "default", profile.identity)


def _fill_optimizer(values: Values, fill: Any) -> None:
    """Moments have the type of what is updated: the master weights, adapters, or the weights themselves."""
    fill("/optimizer/name", "adam")
    updated = values.get("/precision/parameters")
    if values.get("/precision/master") != "none":
        updated = "fp32"
    elif values.get("/adapters") is not None:
        updated = values.get("/adapters/dtype")
    fill("/optimizer/moments", [updated, updated], "the type of what is updated")


def _fill_sharding(values: Values, profile: Profile, fill: Any) -> None:
    fill("/optimizer/implementation", profile.implementation)
    if values.get("/framework/name") in FULLY_SHARDED:
        fill("/sharding/reshard_after_forward", "default")
        if profile.no_sync:
            fill("/sharding/no_sync", value=True)
    if values.get("/framework/name") in {"ddp", "hf-trainer"}:
        # accelerate's DistributedDataParallelKwargs leave torch's default.
        fill("/sharding/bucket_view", value=False)
    if values.get("/framework/name") == "deepspeed":
        _fill_buckets(values, profile, fill)


def _fill_buckets(values: Values, profile: Profile, fill: Any) -> None:
    """DeepSpeed's own sizes, or those that transformers puts in for "auto" (integrations/deepspeed.py)."""
    hidden = values.get("/model/hidden_size")
    if values.get("/framework/transformer_impl") == "hf" and hidden:
        sizes = {"reduce": hidden * hidden, "prefetch": 9 * hidden * hidden // 10, "persistence_threshold": 10 * hidden}
        rule = 'transformers fills in "auto"'
    else:
        sizes = {"reduce": 500_000_000, "prefetch": 50_000_000, "persistence_threshold": 100_000}
        rule = profile.identity
    for name, size in sizes.items():
        fill(f"/sharding/buckets/{name}", size, rule)
    fill("/sharding/buckets/max_live_parameters", 1_000_000_000)


def unpriced_states(values: Values, profile: Profile) -> Iterator[tuple[str, str]]:
    """What changes states and is not itemised: where it stands, and what it is."""
    name = values.get("/framework/name")
    stage = values.get("/sharding/stage")
    if stage is not None and stage not in STAGES[name]:
        yield "/sharding/stage", f"sharding stage {stage} with {name}"
    if _shards_units(values):
        yield from _unpriced_units(values, profile)
    if values.get("/precision/fp8") is not None:
        yield from _unpriced_eight_bits(values)
    yield from _unpriced_offload(values, name, stage)
    if values.get("/optimizer/in_backward") and name in {"megatron-core", "deepspeed"}:
        yield "/optimizer/in_backward", f"an optimizer inside the backward with {name}"
    if values.get("/adapters") is not None:
        if values.get("/framework/transformer_impl") in MEGATRON_LAYERS:
            yield from _unpriced_in_megatron(values, profile)
        else:
            yield from _unpriced_adapters(values)


def _shards_units(values: Values) -> bool:
    """Whether Megatron shards gradients, unit by unit."""
    return values.get("/framework/name") == "megatron-core" and (values.get("/sharding/stage") or 0) > 1


def _unpriced_units(values: Values, profile: Profile) -> Iterator[tuple[str, str]]:
    """Sharded gradients and weights under Megatron where their buffers have not been read."""
    stage = f"sharding stage {values.get('/sharding/stage')} in Megatron's layers"
    if profile.keeps != "megatron-core":
        yield "/sharding/stage", f"sharding stage {values.get('/sharding/stage')} with {profile.identity}"
    if (values.get("/parallelism/pipeline") or 1) > 1:
        yield "/parallelism/pipeline", f"a pipeline with {stage}"
    if values.get("/precision/fp8") is not None:
        yield "/precision/fp8", f"8-bit training with {stage}"
    if values.get("/precision/compute") == "fp32":
        # Its CI's one such run leaves no room for the fp32 copies that the source makes beside fp32 weights.
        yield "/precision/compute", f"fp32 training with {stage}"
    if values.get("/optimizer/offload") not in (None, "none"):
        yield "/optimizer/offload", f"offload with {stage}"
    if values.get("/sharding/implementation") == "torch_fsdp2" and values.get("/sharding/stage") != WEIGHTS:
        yield "/sharding/stage", "torch FSDP2 without sharded weights in Megatron's layers"
    if values.get("/optimizer/name") not in {None, "adam", "sgd", "none"}:
        yield "/optimizer/name", f"the optimizer {values.get('/optimizer/name')} with {stage}"


def _unpriced_eight_bits(values: Values) -> Iterator[tuple[str, str]]:
    backend, recipe = values.get("/precision/fp8/backend"), values.get("/precision/fp8/recipe")
    implementation = values.get("/framework/transformer_impl")
    if backend not in RECIPES:
        yield "/precision/fp8/backend", "8-bit training by MS-AMP"
    elif recipe not in RECIPES[backend]:
        yield "/precision/fp8/recipe", f"the recipe {recipe} with {backend}"
    if implementation in MEGATRON_LAYERS:
        if backend == AO:
            yield "/precision/fp8/backend", "torchao in Megatron's layers"
        return
    narrow = {"/precision/fp8/parameters": True, "/precision/parameters": "fp8"}
    for pointer in (each for each, value in narrow.items() if values.get(each) == value):
        yield pointer, f"weights kept in 8 bits with the implementation {implementation}"
    if values.get("/model/num_experts") and not stacks_experts(values.get("/framework/version")):
        yield "/precision/fp8", "8-bit training of experts that are modules of their own"
    eager = not values.get("/kernels/compile")
    if backend == AO and eager and values.get("/checkpointing/op"):
        # torchtitan's 8B holds 34 GiB more than compiled (PR 812), which torchao's own kept operands do not explain.
        yield "/precision/fp8", "8-bit training without compilation under operation-level checkpointing"


def _unpriced_in_megatron(values: Values, profile: Profile) -> Iterator[tuple[str, str]]:
    """Adapters on Megatron's layers: Megatron-Bridge's, on dense ones whose weights stay as they are."""
    if profile.keeps != "megatron-core":
        yield "/adapters", f"adapters on Megatron's layers with {profile.name}"
    for pointer, what in (
        ("/model/num_experts", "a mixture of experts"),
        ("/model/kv_lora_rank", "latent attention"),
        ("/model/num_nextn_predict_layers", "multi-token prediction"),
    ):
        if values.get(pointer):
            yield "/adapters", f"adapters on {what} in Megatron's layers"
    if values.get("/adapters/quantization") or values.get("/adapters/type") == "qlora":
        yield "/adapters", "quantised weights beside adapters in Megatron's layers"
    if "embedding" in values.get("/adapters/modules"):
        yield "/adapters/modules", "an adapter on the embedding in Megatron's layers"
    if values.get("/schedule") in SPLIT_BACKWARD:
        yield "/schedule", f"the schedule {values.get('/schedule')} beside adapters in Megatron's layers"


def _unpriced_adapters(values: Values) -> Iterator[tuple[str, str]]:
    """Adapters on experts elsewhere than in transformers.

    PEFT refuses a dropout before stacked experts, and an adapter on one of the branches that they fuse.
    """
    implementation, version = values.get("/framework/transformer_impl"), values.get("/framework/version")
    experts = values.get("/model/num_experts")
    modules = set(values.get("/adapters/modules"))
    if experts and modules & EXPERT_MODULES:
        if implementation != "hf":
            yield "/adapters/modules", f"adapters on experts with the implementation {implementation}"
        elif stacks_experts(version):
            family = values.get("/model/model_type")
            if family in known_model_types() and family not in EXPERTS_BY_MODULE_NAMES:
                yield "/adapters/modules", f"adapters on the experts of {family}, which PEFT finds by other names,"
            if values.get("/adapters/dropout"):
                yield "/adapters/dropout", "a dropout before adapters on stacked experts, which PEFT refuses,"
            if len(modules & BRANCHES) == 1 and values.get("/model/mlp") in GATED:
                yield "/adapters/modules", "one of gate and up on stacked experts, which fuse them,"


def _unpriced_offload(values: Values, name: str, stage: int | None) -> Iterator[tuple[str, str]]:
    states, weights = values.get("/optimizer/offload"), values.get("/optimizer/parameter_offload")
    for pointer, where in (("/optimizer/offload", states), ("/optimizer/parameter_offload", weights)):
        if where == "nvme" and (name != "deepspeed" or stage != WEIGHTS):
            at = f" at sharding stage {stage}" if name == "deepspeed" else ""
            yield pointer, f"offload to disk with {name}{at}"
    moved = weights not in {None, "none"}
    if moved and name in REPLICATED | {"megatron-core"}:
        yield "/optimizer/parameter_offload", f"parameter offload with {name}"
    if moved and name == "deepspeed" and stage != WEIGHTS:
        yield "/optimizer/parameter_offload", f"parameter offload at sharding stage {stage}"
    if name in FULLY_SHARDED and states not in (None, "none") and not moved:
        yield "/optimizer/offload", "offload of optimizer states without the weights under FSDP"


def state_parts(values: Values, profile: Profile) -> dict[str, Any]:
    """The recipe's fields about states; every default is filled in by now."""
    version = values.get("/framework/version")
    dated = stated_date(version)
    precision = values.section("/precision")
    master = {"none": None, "fp32": "fp32", "bf16_remainder": "int16"}[precision["master"]]
    return {
        "framework": profile.keeps,
        "parameters": "bf16" if precision["parameters"] == "fp8" else precision["parameters"],
        "master": master,
        "gradients": precision["gradients"],
        "loading_known": version is None or profile.covers(version),
        "gradient_copy_kept": dated is not None and dated < tuple(profile.gradient_copies_kept_until),
        "gradients_flattened": dated is not None and dated < tuple(profile.gradients_flattened_until),
        "reduce": precision["reduce"],
        "autocast": bool(precision.get("autocast")),
        "moments": tuple(values.get("/optimizer/moments")),
        "optimizer": replace(_optimizer(values), foreach_copies=profile.foreach_copies),
        "sharding": replace(_sharding(values), adapters_apart=profile.adapters_apart),
        "fp8": _fp8(values),
        "adapters": _adapters(values, profile),
    }


def _optimizer(values: Values) -> Optimizer:
    stated = values.section("/optimizer")
    offload = stated.get("offload") or "none"
    percent = round(100 * offload["fraction"]) if isinstance(offload, Mapping) else 100 * (offload in {"cpu", "nvme"})
    swap = stated.get("swap") or {}
    return Optimizer(
        name=stated["name"],
        implementation=stated["implementation"],
        momentum=bool(stated.get("momentum")),
        in_backward=bool(stated.get("in_backward")),
        offload_percent=percent,
        nvme=offload == "nvme",
        parameters_on_host=stated.get("parameter_offload") in {"cpu", "nvme"},
        parameters_on_nvme=stated.get("parameter_offload") == "nvme",
        swap=Swap(**{key: value for key, value in swap.items() if value is not None}),
    )


def _sharding(values: Values) -> Sharding:
    stated = values.section("/sharding")
    buckets = stated.get("buckets") or {}
    # Without freeing after the forward, weights are whole from then to the backward: what stage 2 says.
    reshard = "never" if stated.get("stage") == 2 else stated.get("reshard_after_forward") or "default"  # noqa: PLR2004
    return Sharding(
        reduce=buckets.get("reduce") or 0,
        prefetch=buckets.get("prefetch") or 0,
        live=buckets.get("max_live_parameters") or 0,
        persistence=buckets.get("persistence_threshold") or 0,
        reshard=reshard,
        bucket_view=stated.get("bucket_view") is not False,
        overlap=bool(stated.get("overlap_grad_reduce")),
        no_sync=bool(stated.get("no_sync")),
        units=(stated.get("implementation") or "") if _shards_units(values) else "",
        double_buffer=bool(stated.get("double_buffer")),
        **_titan_sharding(values),
    )


def _titan_sharding(values: Values) -> dict[str, bool]:
    """Whether torchtitan leaves embedding and head in the root's unit, and how many streams it allocates on."""
    if values.get("/framework/transformer_impl") != "titan":
        return {}
    version = values.get("/framework/version")
    return {
        "ends_together": "ends_in_root" in titan_habits(version),
        "own_streams": not is_whole_graph(version),
    }


def _fp8(values: Values) -> Fp8 | None:
    stated = values.get("/precision/fp8")
    if stated is None:
        return None
    return Fp8(
        recipe=stated["recipe"],
        backend=stated["backend"],
        parameters=bool(stated.get("parameters")) or values.get("/precision/parameters") == "fp8",
        all_gather=bool(stated.get("all_gather")),
    )


def _adapters(values: Values, profile: Profile) -> Adapters | None:
    stated = values.get("/adapters")
    if stated is None:
        return None
    quantization = stated.get("quantization") or ("nf4" if stated["type"] == "qlora" else None)
    return Adapters(
        rank=stated["rank"],
        modules=_adapted(stated["modules"], values),
        dtype=stated["dtype"],
        quantization=quantization,
        **_quantised_inputs(quantization, values, profile),
        trained=tuple(stated.get("trained_modules") or ()),
        dropout=stated.get("dropout") or 0.0,
        experts_stacked=_stacks_experts(values),
        split=values.get("/framework/transformer_impl") in MEGATRON_LAYERS,
    )


def _quantised_inputs(quantization: str | None, values: Values, profile: Profile) -> dict[str, bool]:
    """Whether the inputs of quantised products are kept, and past their backward: where any day of the version says so.

    They stay until the loss is replaced; a run that begins with its longest sample has nothing before its peak.
    """
    period = stated_period(values.get("/framework/version"))
    if quantization is None or period is None:
        return {}
    first, last = period
    kept = first < tuple(profile.quantised_inputs_kept_until)
    return {"inputs_kept": kept, "inputs_outlive_backward": kept and last >= tuple(profile.longest_first_until)}


def _stacks_experts(values: Values) -> bool:
    return bool(values.get("/model/num_experts")) and stacks_experts(values.get("/framework/version"))


def _adapted(stated: Sequence[str], values: Values) -> tuple[str, ...]:
    """What carries an adapter of what is named.

    On latent attention q, k and v stand for the projections that make them. Where experts are stacked, PEFT puts the
    adapters named after an MLP's modules on them, and on no dense layer or shared expert (measured, peft 0.21.2 with
    transformers 5.24.0; utils/transformers_weight_conversion.py, _convert_peft_config_moe). Megatron-Bridge's LoRA sets
    one adapter on each fused product; parts of one carry adapters of their own (its canonical LoRA).
    """
    means: dict[str, tuple[str, ...]] = {}
    if values.get("/framework/transformer_impl") in MEGATRON_LAYERS:
        means |= _fused_products(set(stated), gated=values.get("/model/mlp") in GATED)
    if values.get("/model/kv_lora_rank"):
        queries = ("q_a", "q_b") if values.get("/model/q_lora_rank") else ("q",)
        means |= {"q": queries, "k": ("kv_a", "kv_b"), "v": ("kv_a", "kv_b")}
    if _stacks_experts(values):
        means |= {"gate": ("experts.up",), "up": ("experts.up",), "down": ("experts.down",)}
    return tuple(dict.fromkeys(name for each in stated for name in means.get(each, (each,))))


def _fused_products(stated: set[str], *, gated: bool) -> dict[str, tuple[str, ...]]:
    """Megatron's fused products of which all parts carry an adapter, under the name of each part."""
    fused = [("qkv", ("q", "k", "v"))] + ([("gate_up", ("gate", "up"))] if gated else [])
    return {part: (name,) for name, parts in fused if stated.issuperset(parts) for part in parts}
