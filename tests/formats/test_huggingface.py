"""Hugging Face configs: keys, older spellings, class defaults, and what a model file cannot say."""

import json
from typing import Any

import pytest

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource
from service.job.schema import ModelSection
from tests.formats.corpus import expected, facts, items

# Every layer of this model is a mixture of experts, so the dense width is unused and differs between its files.
NOT_READ = {"hf_config/qwen3_235b_fp8_wrong_type": {"ffn_hidden_size"}}
CODES = {
    "hf_config/deepseek_v3_alt_names": {"quantized_checkpoint"},
    "hf_config/llama_1b_old_keys": {"defaults_used"},
    "hf_config/qwen3_235b_fp8_wrong_type": {"type_architecture_mismatch", "quantized_checkpoint"},
}
TRAINING = {"sequence_length", "micro", "world_size"}
LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
}
LLAMA_4 = {"model_type": "llama4_text"}


def read(config: dict[str, Any], **given: Any) -> Imported:
    return import_source(ConfigSource(text=json.dumps(config), format="huggingface", **given))


def model(config: dict[str, Any]) -> Any:
    imported = read(config)
    assert imported.job is not None
    return imported.job.model


def codes(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.diagnostics}


@pytest.mark.parametrize("item", items("hf_config"), ids=lambda item: item["id"].rpartition("/")[2])
def test_a_published_config_yields_its_facts(item: dict[str, Any]) -> None:
    imported = import_source(ConfigSource(text=json.dumps(item["content"], indent=2)))

    found = facts(imported)
    left_out = {"compute", "fp8", "granularity", "seq_length"} | NOT_READ.get(item["id"], set())
    assert {
        key: (value, found[key])
        for key, value in expected(item)
        if key in found and key not in left_out and found[key] != value
    } == {}
    assert CODES.get(item["id"], set()) <= codes(imported)
    assert (imported.format, imported.outcome, imported.unknown) == ("huggingface", "incomplete", ())
    assert imported.confidence > 0.9


def test_what_only_a_training_setup_states_is_missing() -> None:
    imported = read(LLAMA)

    assert {each.fact for each in imported.findings.missing} == TRAINING
    assert {each.fact for each in read(LLAMA, world_size=8).findings.missing} == TRAINING - {"world_size"}


def test_the_framework_is_an_assumption_that_says_so() -> None:
    source = read(LLAMA).findings.sources["/framework/name"]

    assert (source.origin, source.where) == ("assumed", "megatron-core, the only profile so far")


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        ({"num_key_value_heads": None}, "num_key_value_heads", 32),
        ({"head_dim": 64}, "head_dim", 64),
        ({}, "head_dim", 128),
        ({"model_type": "qwen2"}, "qkv_bias", True),
        ({"model_type": "qwen2"}, "output_bias", False),
        ({"model_type": "qwen3"}, "qk_norm", "per_head"),
        ({"model_type": "gemma2", "hidden_act": "gelu_pytorch_tanh"}, "mlp", "geglu"),
        ({"model_type": "gemma2"}, "norms_per_layer", 4),
        ({"model_type": "olmo2"}, "qk_norm", "full"),
        ({"model_type": "gpt_neox", "hidden_act": "gelu"}, "parallel_residual", True),
        ({"attention_bias": True}, "output_bias", True),
        ({"model_type": "glm4_moe", "attention_bias": True}, "output_bias", False),
        ({"model_type": "glm4_moe", "use_qk_norm": True}, "qk_norm", "per_head"),
        ({"mlp_bias": True}, "mlp_bias", True),
        ({"model_type": "mixtral", "num_local_experts": 8}, "moe_intermediate_size", 14336),
        ({"model_type": "qwen3_moe", "mlp_only_layers": [0]}, "mlp_only_layers", [0]),
        ({"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": False}, "sliding_window", None),
        ({"model_type": "mistral", "sliding_window": None}, "sliding_window", None),
        ({"model_type": "mistral"}, "sliding_window", 4096),
        ({"hidden_size": "4096"}, "hidden_size", 4096),
        ({**LLAMA_4, "intermediate_size_mlp": 16384}, "intermediate_size", 16384),
        ({**LLAMA_4, "intermediate_size": 8192}, "moe_intermediate_size", 8192),
        ({**LLAMA_4, "interleave_moe_layer_step": 2}, "moe_layer_pattern", [0, 1] * 16),
    ],
)  # fmt: skip
def test_what_a_family_implies_becomes_explicit(changes: dict[str, Any], key: str, value: Any) -> None:
    config = {name: each for name, each in {**LLAMA, **changes}.items() if each is not None or name == "sliding_window"}

    assert getattr(model(config), key) == value


def test_gpt2_spellings() -> None:
    found = model(
        {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}
    )

    assert (found.hidden_size, found.num_hidden_layers, found.num_attention_heads) == (768, 12, 12)
    assert (found.intermediate_size, found.max_position_embeddings, found.tie_word_embeddings) == (3072, 1024, True)
    assert (found.mlp, found.normalization, found.position_embedding) == ("gelu", "layernorm", "learned")


@pytest.mark.parametrize("key", ["text_config", "llm_config"])
def test_a_multimodal_config_is_read_for_its_language_model(key: str) -> None:
    imported = read(
        {
            "model_type": "gemma3",
            "vision_config": {"hidden_size": 1},
            key: {"hidden_size": 2560, "num_hidden_layers": 34},
        }
    )

    assert imported.job is not None
    found = imported.job.model
    assert (found.model_type, found.hidden_size, found.num_attention_heads) == ("gemma3_text", 2560, 8)
    assert imported.findings.sources["/model/num_attention_heads"].origin == "assumed"
    assert {"nested_config", "defaults_used"} <= codes(imported)


@pytest.mark.parametrize(
    "key", ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"]
)
def test_a_dimension_that_is_taken_away_is_never_a_silent_number(key: str) -> None:
    imported = read({name: value for name, value in LLAMA.items() if name != key})

    assert imported.findings.sources[f"/model/{key}"].origin == "assumed"
    assert "defaults_used" in codes(imported)


def test_an_unknown_type_implies_nothing() -> None:
    imported = read({**LLAMA, "model_type": "somethingnew"})

    assert "unknown_architecture" in codes(imported)
    assert {each.fact for each in imported.findings.missing} == TRAINING | {
        "normalization",
        "mlp",
        "position_embedding",
    }


def test_an_unknown_type_is_completed_by_the_request() -> None:
    given = ModelSection(normalization="rmsnorm", mlp="swiglu", position_embedding="rope")
    imported = read({**LLAMA, "model_type": "somethingnew"}, model=given)

    assert {each.fact for each in imported.findings.missing} == TRAINING


def test_a_file_that_counts_its_full_attention_is_priced_with_linear_layers() -> None:
    """The published config.json has full_attention_interval and no layer_types."""
    config = {**LLAMA, "model_type": "qwen3_next", "full_attention_interval": 4, "linear_num_value_heads": 32}
    found = model(config)
    assert (found.full_attention_interval, found.linear_num_value_heads, found.linear_key_head_dim) == (4, 32, 128)


def test_nemotron_h_says_its_layers_by_letters() -> None:
    """The keys of nvidia/Nemotron-H's config.json; the number of layers is that of the letters."""
    state = {"ssm_state_size": 128, "mamba_num_heads": 128, "mamba_head_dim": 64, "n_groups": 8, "conv_kernel": 4}
    found = model({**LLAMA, **state, "model_type": "nemotron_h", "hybrid_override_pattern": "M-M*-E"})
    assert found.layers_block_type == ["mamba", "mlp", "mamba", "attention", "mlp", "moe"]
    assert (found.num_hidden_layers, found.mamba_n_heads, found.mamba_d_head, found.mlp) == (6, 128, 64, "relu2")


@pytest.mark.parametrize(("experts", "dense", "shared"), [(0, 8192, None), (64, 512, 8192)])
def test_granite_s_shared_mlp_stands_beside_its_experts_or_instead(
    experts: int, dense: int, shared: int | None
) -> None:
    state = {"mamba_n_heads": 128, "mamba_d_head": "auto", "mamba_d_state": 128, "hidden_size": 4096}
    widths = {"intermediate_size": 512, "shared_intermediate_size": 8192, "num_local_experts": experts}
    layers = {"num_hidden_layers": 4, "layer_types": ["mamba", "mamba", "attention", "mamba"]}
    found = model({**LLAMA, **state, **widths, **layers, "num_experts_per_tok": 6, "model_type": "granitemoehybrid"})
    assert (found.intermediate_size, found.shared_expert_intermediate_size) == (dense, shared)
    assert (found.mamba_d_head, found.position_embedding) == (64, "none")


def test_bamba_numbers_its_attention_layers() -> None:
    state = {"num_hidden_layers": 3, "attn_layer_indices": [1], "mamba_n_heads": 128, "mamba_d_state": 128}
    assert model({**LLAMA, **state, "model_type": "bamba"}).layers_block_type == ["mamba", "attention", "mamba"]


FALCON = {"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128}


@pytest.mark.parametrize(
    ("keys", "groups", "norms"),
    [
        pytest.param({"num_kv_heads": 8, "new_decoder_architecture": True}, 8, 2, id="Falcon 40B"),
        pytest.param({"multi_query": True, "num_kv_heads": 128}, 1, 1, id="Falcon 7B"),
        pytest.param({"multi_query": False}, 128, 1, id="heads with keys of their own"),
        pytest.param({"parallel_attn": False}, 1, 2, id="one half after the other"),
    ],
)
def test_falcon_s_architecture_decides_keys_and_norms(keys: dict[str, Any], groups: int, norms: int) -> None:
    found = model({**FALCON, **keys})
    assert (found.num_key_value_heads, found.norms_per_layer, found.intermediate_size) == (groups, norms, 4 * 8192)
    assert (found.mlp, found.mlp_bias, found.parallel_residual) == ("gelu", False, keys.get("parallel_attn", True))


def test_bloom_is_read_by_the_defaults_of_its_class() -> None:
    found = model({"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "num_attention_heads": 16})
    assert (found.hidden_size, found.intermediate_size, found.vocab_size) == (1024, 4096, 250880)
    assert (found.position_embedding, found.tie_word_embeddings, found.qkv_bias) == ("alibi", True, True)


def test_mpt_s_biases_are_one_switch() -> None:
    keys = {"d_model": 4096, "n_layers": 32, "n_heads": 32, "no_bias": True, "attn_config": {"kv_n_heads": 8}}
    found = model({"model_type": "mpt", "expansion_ratio": 4, **keys})
    assert (found.norm_bias, found.mlp_bias, found.num_key_value_heads) == (False, False, 8)
    assert (found.intermediate_size, found.position_embedding) == (16384, "alibi")


def test_opt_says_where_its_norms_stand_and_how_wide_its_embedding_is() -> None:
    keys = {"hidden_size": 1024, "ffn_dim": 4096, "word_embed_proj_dim": 512, "do_layer_norm_before": False}
    found = read({"model_type": "opt", **keys, "dropout": 0.1})
    assert found.job is not None
    section, dropout = found.job.model, found.job.dropout
    assert (section.word_embed_proj_dim, section.do_layer_norm_before) == (512, False)
    assert (section.intermediate_size, section.mlp, dropout.hidden, dropout.attention) == (4096, "relu", 0.1, 0.0)


def test_a_missing_type_is_taken_from_the_architecture() -> None:
    config = {name: value for name, value in LLAMA.items() if name != "model_type"}

    assert model({**config, "architectures": ["Qwen3ForCausalLM"]}).model_type == "qwen3"


def test_unknown_and_repeated_keys_are_reported() -> None:
    text = json.dumps({**LLAMA, "tie_word_embedings": True})[:-1] + ', "hidden_size": 8192}'
    imported = import_source(ConfigSource(text=text))

    assert imported.unknown == ("tie_word_embedings",)
    assert {"unknown_keys", "duplicate_key"} <= codes(imported)
    assert imported.job is not None
    assert imported.job.model.hidden_size == 8192


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"hidden_size": "eight"}, "/model/hidden_size"),
        ({"hidden_size": [4096]}, "/model/hidden_size"),
        ({"num_hidden_layers": 32.5}, "/model/num_hidden_layers"),
        ({"num_hidden_layers": -1}, "/model/num_hidden_layers"),
        ({"vocab_size": 10**12}, "/model/vocab_size"),
        ({"tie_word_embeddings": "perhaps"}, "/model/tie_word_embeddings"),
        ({"layer_types": [1, 2]}, "/model/layer_types"),
        ({"attention_dropout": 7}, "/dropout/attention"),
    ],
)
def test_a_wrong_value_is_an_error_with_its_field(changes: dict[str, Any], field: str) -> None:
    imported = read({**LLAMA, **changes})

    assert imported.outcome == "invalid"
    assert [each.fields for each in imported.findings.errors] == [(field,)]
    assert imported.job is not None


@pytest.mark.parametrize("text", ["", "[]", '{"model_type": "llama",}', "{", "null", '"llama"', "[" * 100_000])
def test_text_that_is_no_object_is_refused(text: str) -> None:
    imported = import_source(ConfigSource(text=text, format="huggingface"))

    assert (imported.outcome, imported.job) == ("invalid", None)
    assert codes(imported) <= {"syntax", "too_deep"}


@pytest.mark.parametrize(
    ("kind", "language", "norms"),
    [("qwen2_5_vl", "qwen2", "none"), ("qwen3_vl_text", "qwen3", "per_head"), ("gemma3", "gemma3_text", "per_head")],
)
def test_a_model_with_encoders_has_the_layers_of_its_language_model(kind: str, language: str, norms: str) -> None:
    imported = read({**LLAMA, "model_type": kind, "architectures": ["AnyForConditionalGeneration"]})

    assert imported.job is not None
    assert (imported.job.model.model_type, imported.job.model.qk_norm) == (language, norms)
    assert "nested_config" in codes(imported)
