"""NeMo's keys as Megatron's flags, so that both mean the same by construction.

Source: NVIDIA/NeMo-Framework-Launcher @ 26e42fa9, launcher_scripts/conf/training; NVIDIA-NeMo/Megatron-Bridge
@ 067f987d, src/megatron/bridge/training/config.py and mixed_precision.py.
"""

from collections.abc import Iterator, Mapping

from service.formats.config.settings import Setting, Settings
from service.formats.config.templates import Unfilled, filled
from service.formats.megatron.vocabulary import arity, is_known
from service.formats.syntax.argv import Argument
from service.formats.syntax.values import ValueFault, boolean
from service.formats.syntax.words import Hole, Holes, Word

_PREFIXES = ("model.", "train.", "ddp.", "dist.", "optimizer.", "mixed_precision.", "comm_overlap.")
# Sections of a model that describe something else than the model that is trained.
OTHER_MODELS = ("model.teacher.", "model.kd_config.", "model.vision.", "model.data.", "model.tokenizer.")
# NeMo's key without its section, and Megatron's flag that is on when the key is true.
_SWITCHES: Mapping[str, str] = {
    "qkv_bias": "add_qkv_bias",
    "add_qkv_bias": "add_qkv_bias",
    "qk_layernorm": "qk_layernorm",
    "ub_tp_comm_overlap": "tp_comm_overlap",
    "use_flash_attention": "use_flash_attn",
    "fp8_params": "fp8_param_gather",
    "overlap_grad_sync": "overlap_grad_reduce",
    "overlap_param_sync": "overlap_param_gather",
    "grad_reduce_in_fp32": "accumulate_allreduce_grads_in_fp32",
}
# The key, and Megatron's flag that is on when the key is false.
_OFF: Mapping[str, str] = {
    "bias": "disable_bias_linear",
    "add_bias_linear": "disable_bias_linear",
    "share_embeddings_and_output_weights": "untie_embeddings_and_output_weights",
    "gradient_accumulation_fusion": "no_gradient_accumulation_fusion",
    "apply_rope_fusion": "no_rope_fusion",
}
_SAME: Mapping[str, str] = {
    "override_vocab_size": "vocab_size",
    "num_layers_in_first_pipeline_stage": "decoder_first_pipeline_num_layers",
    "num_layers_in_last_pipeline_stage": "decoder_last_pipeline_num_layers",
}
_ACTIVATIONS: Mapping[str, str] = {
    "swiglu": "swiglu",
    "fast_swiglu": "swiglu",
    "squared_relu": "squared_relu",
    "geglu": "quick_geglu",
    "fast_geglu": "quick_geglu",
}
_DISTRIBUTED = frozenset({"mcore_distributed_optim", "distributed_fused_adam", "distributed_adafactor"})
_OPTIMIZERS = {**dict.fromkeys(_DISTRIBUTED, "adam"), "fused_adam": "adam", "adamw": "adam", "adam": "adam"}
# What only looks like a flag, or is a flag whose key means something else here.
_IGNORED = frozenset({
    "fp8", "fp8_hybrid", "fp8_e4m3", "precision", "name", "lr", "bias_activation_fusion", "normalization", "activation",
    "num_query_groups", "transformer_engine", "optimizer", "fp8_recipe", "seq_length",
})  # fmt: skip


def arguments(settings: Settings, holes: Holes) -> list[Argument]:
    """The settings as Megatron's arguments, each under its own spelling for messages."""
    found: list[Argument] = []
    for key, setting in settings.values.items():
        name = own_name(key)
        if name is None or setting.value in (None, "", "~") or isinstance(setting.value, dict):
            continue
        found += _translated(name, setting, settings, holes)
    return [*found, *_derived(settings, holes)]


def own_name(key: str) -> str | None:
    """A key without its section, or None when it is about something else than this model's training."""
    if key.startswith(OTHER_MODELS):
        return None
    for prefix in (*_PREFIXES, "model.optim."):
        name = key.removeprefix(prefix)
        if name != key and "." not in name:
            return name
    return None


def _translated(name: str, setting: Setting, settings: Settings, holes: Holes) -> Iterator[Argument]:
    if name in _IGNORED:
        return
    settings.read.add(setting.key)
    flag = _SWITCHES.get(name) or _OFF.get(name)
    if flag is not None:
        on = _switch(setting, settings)
        if on is not None and on == (name in _SWITCHES):
            yield Argument(flag, setting.spelled)
        return
    flag = _SAME.get(name, name)
    if not is_known(flag):
        settings.read.discard(setting.key)
        return
    on = _switch(setting, settings) if arity(flag) == "none" or isinstance(setting.value, bool) else None
    if on is not None:
        if on:
            yield Argument(flag, setting.spelled)
        return
    yield Argument(flag, setting.spelled, words(setting, settings, holes))


def _switch(setting: Setting, settings: Settings) -> bool | None:
    value = filled(setting.value, settings.env) if isinstance(setting.value, str) else setting.value
    try:
        return None if isinstance(value, (Unfilled, list)) else boolean(value)
    except ValueFault:
        return None


def words(setting: Setting, settings: Settings, holes: Holes) -> tuple[Word, ...]:
    """A value as words; what is still to be filled in is a hole."""
    listed = setting.value if isinstance(setting.value, list) else [setting.value]
    found: list[Word] = []
    for each in listed[:10_000]:
        text = filled(str(each).replace("\x00", ""), settings.env)
        if isinstance(text, Unfilled):
            text = holes.mark(Hole(text.name, "unset", f"{text.name} is to be filled in and not given"))
        found.append(Word(text))
    return tuple(found)


def _derived(settings: Settings, holes: Holes) -> Iterator[Argument]:
    """Flags that several keys make together."""
    yield from _shape(settings, holes)
    yield from _precision(settings)
    yield from _optimizer(settings)
    length = settings.find("model.encoder_seq_length", "model.seq_length", "dataset.seq_length",
    "dataset.sequence_length",
                           "model.data.seq_length")  # fmt: skip
    if length is not None:
        yield Argument("seq_length", length.spelled, words(length, settings, holes))
    if settings.on("dataset.create_attention_mask", "model.data.create_attention_mask") is False:
        where = settings.where("dataset.create_attention_mask", "model.data.create_attention_mask")
        yield Argument("no_create_attention_mask_in_dataloader", where)
    engine = settings.on("model.transformer_engine")
    if engine is not None:
        kind = "transformer_engine" if engine else "local"
        yield Argument("transformer_impl", settings.where("model.transformer_engine"), (Word(kind),))
    settings.read.update({"dataset.seq_length", "dataset.sequence_length", "model.data.seq_length", "model.seq_length"})


def _shape(settings: Settings, holes: Holes) -> Iterator[Argument]:
    groups = settings.find("model.num_query_groups")
    if groups is not None:
        yield Argument("group_query_attention", groups.spelled)
        yield Argument("num_query_groups", groups.spelled, words(groups, settings, holes))
    norm = settings.text("model.normalization", pointer="/model/normalization")
    if norm is not None:
        kind = "RMSNorm" if norm.lower() == "rmsnorm" else "LayerNorm"
        yield Argument("normalization", settings.where("model.normalization"), (Word(kind),))
    act = settings.text("model.activation", pointer="/model/mlp")
    flag = _ACTIVATIONS.get((act or "").lower().replace("-", "_"))
    if flag is not None:
        yield Argument(flag, settings.where("model.activation"))
    elif settings.on("model.gated_linear_unit"):
        yield Argument("swiglu", settings.where("model.gated_linear_unit"))
    if settings.on("model.bias_activation_fusion") is False:
        fusion = "no_bias_swiglu_fusion" if flag == "swiglu" else "no_bias_gelu_fusion"
        yield Argument(fusion, settings.where("model.bias_activation_fusion"))


def _precision(settings: Settings) -> Iterator[Argument]:
    keys = ("model.precision", "trainer.precision", "mixed_precision", "mixed_precision.name")
    text = settings.text(*keys, pointer="/precision/compute")
    word = (text or "").lower().replace("-", "_")
    settings.read.update({"trainer.precision", "model.precision"})
    where = settings.where(*keys)
    if word.startswith(("bf16", "fp8")):
        yield Argument("bf16", where)
    elif word.startswith(("fp16", "16")):
        yield Argument("fp16", where)
    recipe = next((kind for name, kind in _FP8.items() if name in word), None)
    stated = settings.find("mixed_precision.fp8_recipe", "model.fp8_recipe")
    eight = settings.on("model.fp8", "mixed_precision.fp8") if settings.raw("model.fp8", "mixed_precision.fp8") in (
        True, False, "true", "false", "True", "False"
    ) else settings.find("model.fp8", "mixed_precision.fp8") is not None  # fmt: skip
    if eight or recipe is not None:
        kind = "e4m3" if settings.on("model.fp8_e4m3") else "hybrid"
        yield Argument("fp8_format", settings.where("model.fp8", "mixed_precision.fp8", *keys), (Word(kind),))
        if stated is not None or recipe is not None:
            yield Argument("fp8_recipe", where, (Word(str(stated.value) if stated is not None else recipe or ""),))
    settings.read.update({"model.fp8_hybrid", "model.fp8_e4m3", "model.fp8"})


_FP8: Mapping[str, str] = {
    "delayed_scaling": "delayed",
    "current_scaling": "tensorwise",
    "subchannel_scaling": "blockwise",
    "mxfp8": "mxfp8",
}


def _optimizer(settings: Settings) -> Iterator[Argument]:
    keys = ("model.optim.name", "optimizer.optimizer")
    name = settings.text(*keys, pointer="/optimizer/name")
    if name is not None:
        yield Argument("optimizer", settings.where(*keys), (Word(_OPTIMIZERS.get(name.lower(), name)),))
        if name.lower() in _DISTRIBUTED:
            yield Argument("use_distributed_optimizer", settings.where(*keys))
    if str(settings.raw("model.optim.grad_sync_dtype")).lower() in {"bf16", "bfloat16"}:
        yield Argument("grad_reduce_in_bf16", settings.where("model.optim.grad_sync_dtype"))
