"""The importer: keys of the file first, then what the model's class implies."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from service.calculator import limits
from service.formats import clues
from service.formats.draft import Draft
from service.formats.huggingface import hybrid, keys, older
from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.formats.syntax.documents import DocumentFault, read_json
from service.formats.syntax.values import ValueFault, boolean, integer, number
from service.job.families import FamilyDefaults, family_defaults, known_model_types, mlp_kind

_MARKS = frozenset({
    "model_type", "architectures", "transformers_version", "num_hidden_layers", "num_attention_heads", "hidden_size",
    "n_embd", "n_layer", "text_config", "rms_norm_eps", "torch_dtype",
})  # fmt: skip
_NESTED = ("text_config", "llm_config", "language_config")
_CONFIDENCE = (0.0, 0.5, 0.8, 0.95, 0.98)
# Without these a number would only repeat the class's example; so a class default for them is an assumption.
_PRIMARY = frozenset({"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"})
_EXPERT_KEYS = frozenset({
    "num_experts", "num_experts_per_tok", "moe_intermediate_size", "n_shared_experts", "first_k_dense_replace",
    "shared_expert_intermediate_size", "decoder_sparse_step",
})  # fmt: skip
_NONE_WHEN_ZERO = frozenset({"num_experts", "num_experts_per_tok", "moe_intermediate_size", "sliding_window"})
_UNIMPLIED = ("normalization", "mlp", "position_embedding")


def recognise(source: ConfigSource) -> float:
    """How sure it is that the text is a config.json: a JSON object with keys that transformers writes."""
    return clues.graded(len(clues.keys(source) & _MARKS), _CONFIDENCE) if clues.is_object(source) else 0.0


def read(source: ConfigSource, confidence: float) -> Imported:
    """The model that the file describes; what only a training setup states is named as missing."""
    draft = Draft("huggingface", confidence)
    draft.complete(source.model, source.world_size)
    config = _config(source.text or "", draft)
    if config is None:
        return draft.finish()
    draft.set("/framework/name", "megatron-core", "assumed", "megatron-core, the only profile so far")
    Reader(config, draft).read()
    draft.lack(
        "sequence_length", "a model config has no training length; pass batch.sequence_length", "/batch/sequence_length"
    )
    draft.lack("micro", "a model config has no micro-batch size; pass batch.micro", "/batch/micro")
    draft.lack("world_size", "a model config has no number of GPUs; pass world_size", "/world_size")
    return draft.finish()


def _config(text: str, draft: Draft) -> dict[str, Any] | None:
    """The object that holds the language model's keys; a nested one takes what it lacks from the outer one."""
    try:
        document = read_json(text)
    except DocumentFault as fault:
        draft.note(fault.code, "error", str(fault), rule="one JSON object")
        return None
    if not isinstance(document.value, dict):
        draft.note("syntax", "error", "the text is not one JSON object", rule="one JSON object")
        return None
    for key in document.repeated[:10]:
        draft.note("duplicate_key", "warning", f"the key {key} is given twice; the last one is used", found=key)
    outer: dict[str, Any] = document.value
    for name in _NESTED:
        inner = outer.get(name)
        if isinstance(inner, dict):
            draft.note(
                "nested_config", "info", f"only {name} is read: the language model, without its encoders", found=name
            )
            shared = {key: outer[key] for key in ("tie_word_embeddings", "quantization_config") if key in outer}
            inner.setdefault("model_type", f"{outer.get('model_type', '')}_text")
            return {**shared, **inner}
    return outer


class Reader:
    """Reads one config into a draft."""

    def __init__(self, config: Mapping[str, Any], draft: Draft) -> None:
        self._config = config
        self._draft = draft
        self._type = self._model_type()
        self._family = family_defaults(self._type)

    def read(self) -> None:
        """Writes the file's keys, then the family's implications."""
        self._draft.set("/model/model_type", self._type, "key", "model_type")
        for key, names in keys.COUNTS.items():
            self._scalar(key, names, integer, "a whole number")
        for key, names in keys.SWITCHES.items():
            self._scalar(key, names, boolean, "true or false")
        self._lists()
        self._special()
        if self._family is None:
            self._unknown_family()
        else:
            self._implied(self._family)
        self._draft.unknown([each for each in self._config if each not in set(keys.known_keys())], keys.known_keys())

    def _model_type(self) -> str | None:
        """`model_type`, or the type that `architectures` names when the two disagree."""
        stated = self._config.get("model_type")
        stated = stated[:100] if isinstance(stated, str) and stated.strip("_") else None
        built = _type_of_architecture(self._config.get("architectures"))
        if stated is not None and stated in keys.LANGUAGE_MODELS:
            language = keys.LANGUAGE_MODELS[stated]
            message = f"the language model of {stated} has the layers of {language}; its encoders are not planned"
            self._draft.note("nested_config", "info", message, fields=["/model/model_type"], found=stated)
            return language
        family = family_defaults(stated)
        if built is None or stated is None or built == stated:
            return stated or built
        same = family_defaults(built)
        if family and same and family.class_name == same.class_name:
            return stated
        if family is None:
            return stated
        self._draft.note(
            "type_architecture_mismatch",
            "warning",
            f"model_type says {stated}, architectures builds {built}; {built} is taken, and the file's own keys win",
            fields=["/model/model_type"],
            found=stated,
        )
        return built

    def _value(self, names: Sequence[str]) -> tuple[str, Any]:
        """The first spelling that the file has with a value, and that value."""
        return next(((name, self._config[name]) for name in names if self._config.get(name) is not None), ("", None))

    def _scalar(self, key: str, names: Sequence[str], coerce: Any, expected: str) -> None:
        name, value = self._value(names)
        if value is None or value == "auto":
            return
        try:
            if isinstance(value, (list, dict)):
                raise ValueFault(f"a {type(value).__name__} is no single value")  # noqa: TRY301
            number_ = coerce(value)
            # Zero experts, or a window of zero, is how some files say that there are none.
            self._draft.set(f"/model/{key}", None if number_ == 0 and key in _NONE_WHEN_ZERO else number_, "key", name)
        except ValueFault as fault:
            message = f"{name}: {fault}"
            self._draft.note(
                "value_type", "error", message, fields=[f"/model/{key}"], found=str(value)[:60], rule=expected
            )

    def _lists(self) -> None:
        for key in ("layer_types", "layers_block_type", "mlp_only_layers"):
            value = self._config.get(key)
            if isinstance(value, list) and value:
                self._draft.set(f"/model/{key}", value, "key", key)

    def _special(self) -> None:
        draft = self._draft
        if self._config.get("use_sliding_window") is False:
            draft.drop("/model/sliding_window")
        if self._config.get("use_qk_norm") is True or self._config.get("qk_layernorm") is True:
            draft.set("/model/qk_norm", "per_head", "key", "use_qk_norm")
        if self._config.get("multi_query") is True:
            draft.set("/model/num_key_value_heads", 1, "key", "multi_query")
        name, act = self._value(keys.ACTIVATION)
        if isinstance(act, str):
            draft.set("/model/hidden_act", act[:50], "key", name)
            shape = mlp_kind(self._family.gated if self._family else True, act)
            draft.set("/model/mlp", shape if self._family else None, "derived", name)
        self._dropouts()
        self._interleaved_experts()
        hybrid.read(self._config, self._type, self._draft)
        older.read(self._config, self._type, self._draft)
        if self._config.get("quantization_config") is not None:
            draft.note(
                "quantized_checkpoint",
                "info",
                "quantization_config describes the stored weights; training precision is the job's own",
                fields=["/precision/parameters"],
                found=str(self._config["quantization_config"]),
            )

    def _dropouts(self) -> None:
        for place, names in (("hidden", keys.HIDDEN_DROPOUT), ("attention", keys.ATTENTION_DROPOUT)):
            name, value = self._value(names)
            try:
                self._draft.set(f"/dropout/{place}", None if value is None else number(value), "key", name)
            except ValueFault as fault:
                pointer = f"/dropout/{place}"
                self._draft.note("value_type", "error", f"{name}: {fault}", fields=[pointer], found=str(value)[:60])
            if self._family is not None:
                where = f"transformers {self._family.class_name}"
                own = self._family.attention_dropout if place == "attention" else None
                self._draft.fill(f"/dropout/{place}", self._family.dropout if own is None else own, "default", where)

    def _interleaved_experts(self) -> None:
        """Llama 4: `intermediate_size` is an expert's width, the dense width has its own key."""
        if self._type != "llama4_text":
            return
        draft, config = self._draft, self._config
        expert, dense = config.get("intermediate_size"), config.get("intermediate_size_mlp")
        draft.set("/model/moe_intermediate_size", expert, "key", "intermediate_size")
        draft.drop("/model/intermediate_size")
        draft.set("/model/intermediate_size", dense, "key", "intermediate_size_mlp")
        layers = draft.get("/model/num_hidden_layers")
        step = config.get("interleave_moe_layer_step", 1)
        chosen = config.get("moe_layers")
        if isinstance(layers, int) and 0 < layers <= limits.LAYERS and isinstance(step, int) and step > 0:
            listed = chosen if isinstance(chosen, list) else range(step - 1, layers, step)
            pattern = [int(index in listed) for index in range(layers)]
            draft.set("/model/moe_layer_pattern", pattern, "key", "interleave_moe_layer_step")

    def _implied(self, family: FamilyDefaults) -> None:
        draft, where = self._draft, f"transformers {family.class_name}"
        if self._type == "gpt2" and isinstance(hidden := draft.get("/model/hidden_size"), int):
            draft.fill("/model/intermediate_size", 4 * hidden, "default", f"{where}: 4 x hidden_size")
        for key, value in family.dimensions.items():
            expert = key in _EXPERT_KEYS and not family.moe
            windowless = key == "sliding_window" and not {"sliding_window", "use_sliding_window"}.isdisjoint(
                self._config
            )
            if not expert and not windowless:
                draft.fill(f"/model/{key}", value, "assumed" if key in _PRIMARY else "default", where)
        self._shapes(family, where)
        self._heads(family, where)
        keyed = (*keys.COUNTS, "tie_word_embeddings")
        filled = [key for key in keyed if draft.origin(f"/model/{key}") in {"default", "assumed"}]
        if filled:
            fields = [f"/model/{key}" for key in filled]
            message = f"the file does not say {', '.join(filled)}; the values are those of {where}"
            draft.note("defaults_used", "info", message, fields=fields, found=where)

    def _shapes(self, family: FamilyDefaults, where: str) -> None:
        draft = self._draft
        attention, everything = draft.get("/model/attention_bias"), draft.get("/model/linear_bias")
        biases = {
            "qkv_bias": (everything, attention, family.qkv_bias),
            "output_bias": (everything, attention if family.attention_bias_on_output else None, family.output_bias),
            "mlp_bias": (everything, None, family.mlp_bias),
        }
        for key, choices in biases.items():
            value = next(each for each in choices if each is not None)
            draft.fill(f"/model/{key}", value, "default" if value is choices[-1] else "derived", where)
        for key in (
            "normalization",
            "norms_per_layer",
            "mlp",
            "position_embedding",
            "qk_norm",
            "tie_word_embeddings",
            "parallel_residual",
        ):
            draft.fill(f"/model/{key}", getattr(family, key), "default", where)

    def _heads(self, family: FamilyDefaults, where: str) -> None:
        draft = self._draft
        heads, hidden = draft.get("/model/num_attention_heads"), draft.get("/model/hidden_size")
        groups = family.num_key_value_heads if "num_key_value_heads" not in self._config else None
        draft.fill("/model/num_key_value_heads", groups or heads, "default", where)
        width = family.head_dim if "head_dim" not in self._config else None
        if isinstance(heads, int) and isinstance(hidden, int) and heads > 0 and not family.latent_attention:
            draft.fill("/model/head_dim", width or hidden // heads, "default" if width else "derived", where)
        if family.moe:
            dense = draft.get("/model/intermediate_size")
            draft.fill("/model/moe_intermediate_size", dense, "derived", f"{where}: experts are as wide as the MLP")

    def _unknown_family(self) -> None:
        """An unknown type implies nothing: what only the class knows is asked for, never guessed."""
        known = ", ".join(known_model_types())
        self._draft.note(
            "unknown_architecture",
            "warning",
            f"the model type {self._type or '(none)'} is not known, so its norms, MLP and positions are not implied",
            fields=["/model/model_type"],
            found=self._type or "",
            rule=f"one of {known}",
            fixes=["pass model.normalization, model.mlp and model.position_embedding"],
        )
        for key in _UNIMPLIED:
            self._draft.lack(key, f"the unknown model type does not imply {key}; pass model.{key}", f"/model/{key}")
        for key in sorted(_PRIMARY):
            self._draft.lack(key, f"the config has no {key}; pass model.{key}", f"/model/{key}")


def _type_of_architecture(architectures: Any) -> str | None:
    """The `model_type` whose class the first architecture names: `Qwen3MoeForCausalLM` is qwen3_moe."""
    if not isinstance(architectures, list) or not architectures or not isinstance(architectures[0], str):
        return None
    name = architectures[0].lower()
    prefixes = {
        family.class_name.removesuffix("Config").lower(): each
        for each in reversed(known_model_types())
        if (family := family_defaults(each)) is not None
    }
    fitting = [prefix for prefix in prefixes if re.match(rf"{re.escape(prefix)}(for|lm|model)", name)]
    return prefixes[max(fitting, key=len)] if fitting else None
