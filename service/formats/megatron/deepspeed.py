"""Megatron-DeepSpeed: the same flags, run by DeepSpeed's engine, with a few meanings of its own.

Rules: deepspeedai/Megatron-DeepSpeed, megatron/arguments.py (`--topk`, `--expert-interval`, `--zero-stage`).
"""

from collections.abc import Mapping
from typing import Any

from service.formats.draft import Draft
from service.formats.megatron.flags import Flags
from service.formats.megatron.reading import Reading
from service.formats.syntax.documents import DocumentFault, read_json
from service.formats.syntax.values import ValueFault, integer


def read_deepspeed(flags: Flags, draft: Draft, reading: Reading, files: Mapping[str, str]) -> None:
    """Writes what `--deepspeed` changes: the framework, the ZeRO stage, and which layers hold experts."""
    if not flags.on("deepspeed"):
        return
    draft.set("/framework/name", "deepspeed", "derived", flags.where("deepspeed"))
    stage = flags.integer("zero_stage", "/sharding/stage")
    if stage is not None:
        draft.set("/sharding/stage", stage, flags.origin, flags.where("zero_stage"))
    else:
        _stage_of_file(flags, draft, reading, files)
    if flags.integer("num_experts"):
        _experts(flags, draft)


def _stage_of_file(flags: Flags, draft: Draft, reading: Reading, files: Mapping[str, str]) -> None:
    name = flags.text("deepspeed_config")
    if name is None:
        return
    supplied = {**reading.heredocs, **files}
    text = supplied.get(name) or supplied.get(name.rsplit("/", 1)[-1])
    if text is None:
        message = f"{flags.where('deepspeed_config')} names {name}, which is not supplied; ZeRO stage 0 is assumed"
        draft.note("missing_file", "warning", message, fields=["/sharding/stage"], found=name)
        draft.set("/sharding/stage", 0, "assumed", "the DeepSpeed file is not supplied")
        return
    try:
        document: Any = read_json(text).value
        section = document.get("zero_optimization") if isinstance(document, Mapping) else None
        stage = integer(section.get("stage", 0)) if isinstance(section, Mapping) else 0
    except (DocumentFault, ValueFault) as fault:
        draft.note("value_type", "error", f"{name}: {fault}", fields=["/sharding/stage"], found=name)
        return
    draft.set("/sharding/stage", stage, "key", f"{name}: zero_optimization.stage")


def _experts(flags: Flags, draft: Draft) -> None:
    """Experts on every second layer and one expert for each token, unless told otherwise."""
    flags.put("topk", "/model/num_experts_per_tok")
    draft.fill("/model/num_experts_per_tok", 1, "default", "Megatron-DeepSpeed: --topk 1")
    layers = flags.integer("num_layers")
    interval = flags.integer("expert_interval") or 2
    if layers is not None and 0 < layers <= 10_000 and interval > 0:  # noqa: PLR2004  (the job's own bound)
        pattern = [int((index + 1) % interval == 0) for index in range(layers)]
        where = (
            flags.where("expert_interval") if "expert_interval" in flags else "Megatron-DeepSpeed: --expert-interval 2"
        )
        draft.set("/model/moe_layer_pattern", pattern, "derived", where)
