"""From the job's model section to the calculator's `Model`: presets, families, and what is still missing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from service.calculator.model import Model, Prediction
from service.catalog.models import UnknownModel, find_model
from service.job.diagnostics import Diagnostic, MissingFact, Origin
from service.job.families import FamilyDefaults, family_defaults, mlp_kind
from service.job.layer_kinds import interval_types, layer_kinds, missing_dimensions, unknown_kinds, wrong_lengths
from service.job.schema import ModelSection
from service.job.values import Values


@dataclass(frozen=True, slots=True)
class Architecture:
    """The resolved model, or None with the problems that prevent it."""

    model: Model | None
    diagnostics: list[Diagnostic]
    missing: list[MissingFact]


def resolve_architecture(section: ModelSection, values: Values) -> Architecture:
    """Fill the model section from its preset and its family, noting in `values` where each came from."""
    architecture, filled = _resolved(section.model_dump_json(exclude_none=True))
    values.adopt(filled)
    return architecture


# Jobs are many, their models few.
@lru_cache(maxsize=256)
def _resolved(section: str) -> tuple[Architecture, Values]:
    """The architecture of a model section, and its values alone."""
    values, problems, stated = Values(), list[Diagnostic](), json.loads(section)
    values.give("/model", stated)
    preset = stated.pop("preset", None)
    if preset is not None:
        _fill_preset(preset, values, problems)
    known = values.section("/model")
    family = family_defaults(known.get("model_type"))
    _fill_layer_types(known, family, values)
    known = values.section("/model")
    problems += [*_unsupported(known), *_uneven(known)]
    _fill_family(family, values)
    missing = [
        MissingFact(fact, f"the model's {fact} is not given; send it or a preset")
        for fact in missing_dimensions(known, family)
    ]
    if any(each.code == "unknown_model" for each in problems):
        missing = []
    if problems or missing:
        return Architecture(None, problems, missing), values
    return Architecture(_model(values.section("/model"), family), problems, missing), values


def _fill_preset(preset: str, values: Values, problems: list[Diagnostic]) -> None:
    try:
        found = find_model(preset)
    except UnknownModel as error:
        fixes = [f"use the preset {name}" for name in error.matches]
        problems.append(
            Diagnostic(
                "unknown_model", "error", str(error), ("/model/preset",), preset, "a preset of GET /v1/models", fixes
            )
        )
        return
    for key, value in found.config.items():
        values.fill(f"/model/{key}", value, "default", f"preset {found.name}")


def _fill_layer_types(known: Mapping[str, Any], family: FamilyDefaults | None, values: Values) -> None:
    """Full attention in every n-th layer, where the config counts them instead of naming each."""
    every, layers = known.get("full_attention_interval"), known.get("num_hidden_layers")
    where = "full_attention_interval"
    if every is None and family is not None and family.full_attention_interval:
        every, where = family.full_attention_interval, f"transformers {family.class_name}"
    if every and layers:
        values.fill("/model/layer_types", interval_types(layers, every), "default", where)


def _unsupported(known: Mapping[str, Any]) -> list[Diagnostic]:
    """Refuse what this version cannot itemise, by name: nothing is ever priced as if it were dense."""
    return [
        Diagnostic(
            "unknown_architecture",
            "error",
            f"layers of kind {kind} are not supported yet",
            (f"/model/{key}",),
            kind,
            "attention, latent attention, gated delta nets, Mamba-2, dense and mixture-of-experts layers",
            (),
        )
        for key, kind in unknown_kinds(known)
    ]


def _uneven(known: Mapping[str, Any]) -> list[Diagnostic]:
    """Lists with one entry for each layer that have another number of entries."""
    return [
        Diagnostic(
            "layers_mismatch",
            "error",
            f"{key} has {len(known[key])} entries for {known['num_hidden_layers']} layers",
            (f"/model/{key}", "/model/num_hidden_layers"),
            str(len(known[key])),
            "one entry for each layer",
        )
        for key in wrong_lengths(known)
    ]


def _fill_family(family: FamilyDefaults | None, values: Values) -> None:
    origin: Origin = "default" if family else "assumed"
    where = f"transformers {family.class_name}" if family else "Llama-like decoder"
    implied = family or FamilyDefaults("Llama-like decoder")
    bias = values.get("/model/linear_bias")
    attention_bias = values.get("/model/attention_bias")
    act = values.get("/model/hidden_act")
    shape = mlp_kind(implied.gated, act) if act else None
    on_output = attention_bias if implied.attention_bias_on_output else None

    def first(*options: Any) -> Any:
        return next(each for each in options if each is not None)

    defaults = {
        "normalization": implied.normalization,
        "norms_per_layer": implied.norms_per_layer,
        "mlp": first(shape, implied.mlp),
        "position_embedding": implied.position_embedding,
        "qk_norm": implied.qk_norm,
        "qkv_bias": first(bias, attention_bias, implied.qkv_bias),
        "output_bias": first(bias, on_output, implied.output_bias),
        "mlp_bias": first(bias, implied.mlp_bias),
        "parallel_residual": implied.parallel_residual,
        "tie_word_embeddings": implied.tie_word_embeddings,
    }
    if implied.output_gate:
        defaults["attn_output_gate"] = True
    if not implied.norm_bias:
        defaults["norm_bias"] = False
    if implied.embedding_norm:
        defaults["embedding_norm"] = True
    for key, value in defaults.items():
        values.fill(f"/model/{key}", value, origin, where)
    heads, hidden = values.get("/model/num_attention_heads"), values.get("/model/hidden_size")
    if heads:
        groups = implied.num_key_value_heads or heads
        values.fill("/model/num_key_value_heads", groups, "default", where if implied.num_key_value_heads else "heads")
    if heads and hidden:
        width = implied.head_dim or max(hidden // heads, 1)
        values.fill("/model/head_dim", width, "default", where if implied.head_dim else "hidden_size / heads")


def _model(known: Mapping[str, Any], family: FamilyDefaults | None) -> Model:
    kinds, pattern = layer_kinds(known, family)
    depths = known.get("num_nextn_predict_layers")
    traits = family or FamilyDefaults("custom")
    width = known.get("word_embed_proj_dim")
    return Model(
        name=known.get("preset") or known.get("model_type") or "custom",
        hidden_size=known["hidden_size"],
        vocab_size=known["vocab_size"],
        kinds=kinds,
        pattern=pattern,
        normalization=known["normalization"],
        position_embedding=known["position_embedding"],
        max_positions=known.get("max_position_embeddings") or 0,
        tied_embeddings=known["tie_word_embeddings"],
        prediction=Prediction(depths, pattern[-1], bool(known.get("mtp_shared_layer"))) if depths else None,
        norm_form=traits.writing.norm_form,
        norm_bias=known.get("norm_bias") is not False,
        embedding_norm=bool(known.get("embedding_norm")),
        embedding_width=None if width == known["hidden_size"] else width,
        position_offset=traits.position_offset,
        final_norm=known.get("do_layer_norm_before") is not False,
    )
