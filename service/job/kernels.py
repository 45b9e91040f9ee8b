"""Which implementations a job's layers and loss run on: defaults by implementation and version."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from service.calculator.model import NormForm
from service.calculator.recipe import LossRecipe
from service.catalog.losses import loss_names, loss_recipe
from service.catalog.profiles import Profile
from service.catalog.titan import is_whole_graph, titan_habits
from service.catalog.versions import stated_date, stated_version
from service.job.families import Writing, family_defaults
from service.job.layer_kinds import RECURRENT
from service.job.values import Values

MEGATRON = frozenset({"transformer_engine", "local"})
SCORES_STORED = frozenset({"unfused", "eager"})
SPLIT_LOSSES = frozenset({"megatron", "megatron_fused", "te", "loss_parallel"})
"""Losses that are written for logits split over the tensor group; torch's own need them whole."""

VOCABULARY_PARALLEL = frozenset({"loss_parallel", "chunked", "chunked_head"})
"""torchtitan's losses that leave the logits split over the tensor group."""

GROUPED_SINCE = (5, 0)
GROUPED_SINCE_DATE = (2025, 12, 1)
"""transformers runs experts as one grouped product from its fifth version on (integrations/moe.py)."""


def fill_kernels(values: Values, profile: Profile) -> None:
    """Defaults of kernels and dropout, each reported with the profile or habit behind it."""
    implementation = values.get("/framework/transformer_impl")

    def fill(pointer: str, value: Any, rule: str = profile.identity) -> None:
        values.fill(pointer, value, "default", rule)

    family = family_defaults(values.get("/model/model_type"))
    if implementation == "hf" and family is not None and family.writing.eager_only:
        fill("/kernels/attention", "eager", f"transformers {family.class_name}: it has no other")
    fill("/kernels/attention", profile.attention)
    if implementation == "titan":
        _fill_titan(values, fill)
    if implementation == "hf":
        _fill_transformers(values, fill)
    fill("/kernels/cross_entropy", profile.cross_entropy)
    if values.get("/kernels/cross_entropy") not in SPLIT_LOSSES:
        fill("/kernels/vocab_parallel_loss", value=False, rule="a loss of whole logits")
    fill("/kernels/grad_accumulation_fusion", profile.grad_accumulation_fusion)
    fill("/kernels/deallocate_pipeline_outputs", profile.deallocate_pipeline_outputs)
    kind = "fused" if implementation in MEGATRON else "eager"
    fill("/kernels/activation", profile.activation or kind)
    if profile.logits_kept:
        fill("/kernels/logits_kept", value=True)
    fill("/kernels/norm", kind)
    narrow = profile.softmax_in_compute
    if implementation in MEGATRON and values.get("/kernels/attention") == "eager" and not narrow:
        fill("/kernels/softmax_fp32", value=True, rule="Megatron's softmax in torch's own operations")
    fill("/dropout/hidden", profile.hidden_dropout)
    fill("/dropout/attention", profile.attention_dropout)
    if values.get("/adapters") is not None:
        fill("/adapters/dropout", _adapter_dropout(values.get("/framework/version")), "the tool's default")
    _fill_recurrence(values)
    if values.get("/model/num_experts"):
        fill("/kernels/moe_dispatcher", "allgather" if implementation in MEGATRON else "alltoall")
        fill("/kernels/grouped_gemm", implementation not in MEGATRON)
        values.fill("/moe/imbalance", 1.0, "assumed", "balanced routing")


def _fill_recurrence(values: Values) -> None:
    """The kernels are assumed to be installed; where they are not, transformers falls back to operations of its own."""
    kinds = (*(values.get("/model/layer_types") or ()), *(values.get("/model/layers_block_type") or ()))
    if any(each in RECURRENT for each in kinds):
        rule = "flash-linear-attention, mamba_ssm and causal_conv1d are installed"
        values.fill("/kernels/linear_attention", "fused", "assumed", rule)


ADAPTER_DROPOUT = {"litgpt": 0.05, "swift": 0.05}
"""Dropout before adapters, of tools that set one: litgpt finetune/lora.py, ms-swift's tuner arguments."""


def _adapter_dropout(version: str | None) -> float:
    text = (version or "").lower()
    return next((dropout for tool, dropout in ADAPTER_DROPOUT.items() if tool in text), 0.0)


def _fill_titan(values: Values, fill: Any) -> None:
    version, rule = values.get("/framework/version"), "torchtitan at the version's date"
    habits = titan_habits(version)
    fill("/kernels/norm", "eager" if "norm_in_operations" in habits else "fused", rule)
    if "logits_kept" in habits:
        fill("/kernels/logits_kept", value=True, rule=rule)
    split = (values.get("/parallelism/tensor") or 1) > 1
    if "loss_chunked" in habits:
        fill("/kernels/cross_entropy", "chunked", rule)
    if values.get("/kernels/compile") and "loss_compiled" in habits and not split:
        fill("/kernels/cross_entropy", "compiled", rule)
    fill("/kernels/cross_entropy", "loss_parallel" if split else "torch_float", rule)
    fill("/kernels/vocab_parallel_loss", values.get("/kernels/cross_entropy") in VOCABULARY_PARALLEL, rule)


def _fill_transformers(values: Values, fill: Any) -> None:
    family = family_defaults(values.get("/model/model_type"))
    if values.get("/kernels/attention") in SCORES_STORED or (family is not None and family.writing.softcap):
        fill("/kernels/softmax_fp32", (family.writing if family else Writing()).softmax_fp32, "transformers")
    fill("/kernels/cross_entropy", "hf", "transformers")
    if values.get("/model/num_experts"):
        grouped = stacks_experts(values.get("/framework/version"))
        fill("/kernels/experts", "grouped_mm" if grouped else "eager", "transformers at the version")
        fill("/kernels/grouped_gemm", values.get("/kernels/experts") == "grouped_mm", "kernels.experts")


def stacks_experts(version: str | None) -> bool:
    """Whether transformers keeps the weights of all experts in one parameter, over which one product runs."""
    number, date = stated_version(version, "transformers"), stated_date(version)
    if number is not None:
        return number >= GROUPED_SINCE
    return date is None or date >= GROUPED_SINCE_DATE


def unpriced_kernels(values: Values) -> Iterator[tuple[str, str]]:
    """What changes activations and is not itemised: where it stands, and what it is."""
    loss = values.get("/kernels/cross_entropy")
    if loss is not None and loss not in loss_names():
        yield "/kernels/cross_entropy", f"the loss recipe {loss}"


def kernel_parts(values: Values) -> dict[str, Any]:
    """The recipe's fields about kernels; every default is filled in by now."""
    kernels, implementation = values.section("/kernels"), values.get("/framework/transformer_impl")
    habits = titan_habits(values.get("/framework/version")) if implementation == "titan" else frozenset[str]()
    return {
        "transformer_impl": implementation,
        "attention": kernels["attention"],
        "loss": _loss(values),
        "softmax_fp32": bool(kernels.get("softmax_fp32")),
        "hidden_dropout": values.get("/dropout/hidden"),
        "attention_dropout": values.get("/dropout/attention"),
        "activation_fused": kernels["activation"] == "fused",
        "norm_fused": kernels["norm"] == "fused",
        "deallocate_pipeline_outputs": kernels["deallocate_pipeline_outputs"],
        "deterministic": bool(kernels.get("deterministic")),
        "attention_mask": bool(values.get("/batch/padding_mask")),
        "rope_fused": kernels.get("rope") != "eager",
        "dispatcher": kernels.get("moe_dispatcher") or "allgather",
        "grouped_gemm": bool(kernels.get("grouped_gemm")),
        "recurrence_fused": kernels.get("linear_attention") != "eager",
        "deferred_head": kernels.get("defer_embedding_wgrad"),
        "compiled": bool(kernels.get("compile")),
        "traced": implementation == "titan" and is_whole_graph(values.get("/framework/version")),
        "keys_repeated": "keys_repeated" in habits,
        "norm_form": _norm_form(implementation, habits),
    }


def _norm_form(implementation: str, habits: frozenset[str]) -> NormForm | None:
    """How an RMSNorm of torch operations is written; None where the model's class in transformers says it."""
    if implementation not in {"titan", "torch"}:
        return None
    return "cast_first" if "norm_of_its_own" in habits else "scale_first"


def _loss(values: Values) -> LossRecipe:
    kernels, implementation = values.section("/kernels"), values.get("/framework/transformer_impl")
    compiled = bool(kernels.get("compile"))
    loss = loss_recipe(kernels["cross_entropy"], values.get("/framework/version"), implementation, compiled=compiled)
    if kernels.get("cross_entropy_chunks"):
        loss = replace(loss, chunks=kernels["cross_entropy_chunks"])
    if kernels.get("label_smoothing"):
        loss = loss.smoothed()
    if kernels.get("logits_kept"):
        loss = loss.with_logits_kept()
    return replace(
        loss.in_compute(values.get("/precision/compute")),
        vocabulary_parallel=kernels.get("vocab_parallel_loss") is not False,
    )
