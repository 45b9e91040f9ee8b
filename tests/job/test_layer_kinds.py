"""Kinds of layers from the keys of a config: which mixer, which of them sparse, which window."""

from typing import Any

import pytest

from service.calculator.model import Attention, DeltaNet, LatentAttention, Mamba, Mlp, Model, Moe
from service.job.architecture import Architecture, resolve_architecture
from service.job.schema import ModelSection
from service.job.values import Values

DIMENSIONS: dict[str, Any] = {
    "hidden_size": 512,
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "intermediate_size": 2048,
    "vocab_size": 32000,
}
EXPERTS: dict[str, Any] = {"num_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 256}
LATENT: dict[str, Any] = {
    "q_lora_rank": 192,
    "kv_lora_rank": 128,
    "qk_nope_head_dim": 64,
    "qk_rope_head_dim": 32,
    "v_head_dim": 64,
}
STATE: dict[str, Any] = {"mamba_d_state": 128, "mamba_d_head": 64, "mamba_n_groups": 8}


def architecture(**keys: Any) -> Architecture:
    return resolve_architecture(ModelSection.model_validate(DIMENSIONS | keys), Values())


def model(**keys: Any) -> Model:
    found = architecture(**keys).model
    assert found is not None
    return found


def sparse(found: Model) -> list[int]:
    return [index for index, kind in enumerate(found.pattern) if isinstance(found.kinds[kind].mlp, Moe)]


@pytest.mark.parametrize(
    ("keys", "layers"),
    [
        pytest.param({}, [0, 1, 2, 3, 4, 5], id="every layer"),
        pytest.param({"first_k_dense_replace": 2}, [2, 3, 4, 5], id="dense first"),
        pytest.param({"moe_layer_freq": 2}, [0, 2, 4], id="every second, from the first (Megatron, DeepSeek)"),
        pytest.param({"first_k_dense_replace": 1, "moe_layer_freq": 2}, [2, 4], id="dense first, then every second"),
        pytest.param({"decoder_sparse_step": 2}, [1, 3, 5], id="every second, from the second (Qwen, Llama 4)"),
        pytest.param({"mlp_only_layers": [0, 3]}, [1, 2, 4, 5], id="but some"),
        pytest.param({"moe_layer_pattern": [0, 1, 1, 0, 0, 1]}, [1, 2, 5], id="layer by layer"),
    ],
)
def test_which_layers_are_mixtures_of_experts(keys: dict[str, Any], layers: list[int]) -> None:
    assert sparse(model(**EXPERTS, **keys)) == layers


def test_an_expert_is_as_wide_as_the_dense_mlp_unless_it_is_said() -> None:
    wide = model(num_experts=8, num_experts_per_tok=2).kinds[0].mlp
    fine = model(**EXPERTS).kinds[0].mlp
    assert isinstance(wide, Moe)
    assert isinstance(fine, Moe)
    assert (wide.width, fine.width) == (2048, 256)


@pytest.mark.parametrize(
    ("keys", "width"),
    [
        ({}, 0),
        ({"n_shared_experts": 2}, 512),
        ({"shared_expert_intermediate_size": 700}, 700),
        ({"n_shared_experts": 2, "shared_expert_intermediate_size": 0}, 0),
    ],
)
def test_shared_experts_are_counted_in_experts_or_said_in_total(keys: dict[str, Any], width: int) -> None:
    found = model(**EXPERTS, **keys).kinds[0].mlp
    assert isinstance(found, Moe)
    assert found.shared_width == width


def test_families_tell_what_no_key_does() -> None:
    qwen = model(model_type="qwen2_moe", shared_expert_intermediate_size=1024, **EXPERTS).kinds[0].mlp
    gpt_oss = model(model_type="gpt_oss", num_experts=8, num_experts_per_tok=2).kinds[0]
    deepseek = model(model_type="deepseek_v3", **EXPERTS, **LATENT).kinds[0].mlp
    assert isinstance(qwen, Moe)
    assert isinstance(gpt_oss.mlp, Moe)
    assert isinstance(gpt_oss.attention, Attention)
    assert isinstance(deepseek, Moe)
    assert (qwen.shared_gate, gpt_oss.mlp.router_bias, gpt_oss.attention.sinks) == (True, True, True)
    assert deepseek.expert_bias


def test_a_latent_rank_makes_latent_attention() -> None:
    assert model(**LATENT).kinds[0].attention == LatentAttention(8, 192, 128, 64, 32, 64)


def test_mixed_windows_are_kinds_of_their_own() -> None:
    types = ["sliding_attention", "sliding_attention", "full_attention"] * 2
    found = model(sliding_window=128, layer_types=types)
    windows = [found.kinds[kind].attention.window for kind in found.pattern]  # type: ignore[union-attr]
    assert windows == [128, 128, None] * 2


def test_a_window_without_kinds_holds_for_all_layers() -> None:
    found = model(sliding_window=128)
    assert [kind.attention.window for kind in found.kinds] == [128]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "blocks", [["M", "-", "*", "-", "M", "E"], ["mamba", "mlp", "attention", "mlp", "mamba", "moe"]]
)
def test_hybrid_layers_of_megatron_are_one_half_each(blocks: list[str]) -> None:
    found = model(layers_block_type=blocks, **STATE, **EXPERTS)
    halves = [found.kinds[kind] for kind in found.pattern]
    mixers = [Mamba, type(None), Attention, type(None), Mamba, type(None)]
    assert [type(each.attention) for each in halves] == mixers
    assert [type(each.mlp) for each in halves] == [type(None), Mlp, type(None), Mlp, type(None), Moe]
    assert {each.norms for each in halves} == {1}


def test_hybrid_layers_of_a_hugging_face_family_have_both_halves() -> None:
    found = model(model_type="bamba", layers_block_type=["mamba", "attention"] * 3, **STATE)
    assert [type(found.kinds[kind].attention) for kind in found.pattern] == [Mamba, Attention] * 3
    assert all(isinstance(kind.mlp, Mlp) for kind in found.kinds)


def test_a_mamba_mixer_is_twice_as_wide_as_the_model_unless_it_is_said() -> None:
    blocks = ["mamba"] * 6
    narrow = model(layers_block_type=blocks, **STATE).kinds[0].attention
    wide = model(layers_block_type=blocks, mamba_expand=4, **STATE).kinds[0].attention
    stated = model(layers_block_type=blocks, mamba_n_heads=24, **STATE).kinds[0].attention
    assert [each.heads for each in (narrow, wide, stated) if isinstance(each, Mamba)] == [16, 32, 24]


def test_prediction_depths_run_a_layer_like_the_last() -> None:
    found = model(**EXPERTS, first_k_dense_replace=5, num_nextn_predict_layers=2, mtp_shared_layer=True)
    assert found.prediction is not None
    assert (found.prediction.depths, found.prediction.kind, found.prediction.shared) == (2, found.pattern[-1], True)


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        pytest.param(
            {"layer_types": ["full_attention", "compressed_attention"] * 3}, "compressed_attention", id="types"
        ),
        pytest.param(
            {"model_type": "minimax", "layer_types": ["full_attention", "linear_attention"] * 3},
            "linear_attention",
            id="another family's linear attention",
        ),
        pytest.param({"layers_block_type": ["mamba", "retention"] * 3, **STATE}, "retention", id="blocks"),
        pytest.param({"model_type": "jamba", **STATE}, "jamba", id="the first Mamba"),
    ],
)
def test_unknown_kinds_of_layers_are_refused_by_name(keys: dict[str, Any], kind: str) -> None:
    found = architecture(**keys)
    assert found.model is None
    assert [(each.code, each.found) for each in found.diagnostics] == [("unknown_architecture", kind)]


DELTA = {"linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 32, "linear_value_head_dim": 16}


@pytest.mark.parametrize(
    "keys",
    [
        {"layer_types": ["linear_attention", "linear_attention", "full_attention"] * 2},
        {"full_attention_interval": 3},
        {"layers_block_type": ["linear_attention", "G", "attention"] * 2},
    ],
)
def test_linear_attention_is_a_gated_delta_net(keys: dict[str, Any]) -> None:
    found = model(**keys, **DELTA)
    assert [isinstance(found.kinds[each].attention, DeltaNet) for each in found.pattern] == [True, True, False] * 2
    assert found.kinds[0].attention == DeltaNet(4, 8, 32, 16, 4)


@pytest.mark.parametrize("key", ["layers_block_type", "layer_types"])
def test_hybrids_of_mamba_call_it_linear_attention(key: str) -> None:
    """transformers 5 names Bamba's, Granite's and Nemotron-H's layers so."""
    found = model(**{key: ["linear_attention", "full_attention", "mamba"] * 2}, model_type="bamba", **STATE)
    assert [isinstance(found.kinds[each].attention, Mamba) for each in found.pattern] == [True, False, True] * 2


def test_the_dimensions_of_linear_attention_are_asked_for_by_name() -> None:
    found = architecture(full_attention_interval=3)
    assert [each.fact for each in found.missing] == [
        "linear_num_value_heads",
        "linear_key_head_dim",
        "linear_value_head_dim",
    ]


def test_qwen3_next_counts_its_full_attention_and_gates_it() -> None:
    found = model(model_type="qwen3_next", **EXPERTS, **DELTA)
    mixers = [found.kinds[each].attention for each in found.pattern]
    assert [isinstance(each, Attention) and each.output_gate for each in mixers] == [False] * 3 + [True] + [False] * 2


@pytest.mark.parametrize("key", ["layer_types", "layers_block_type", "moe_layer_pattern"])
def test_a_list_of_layers_is_as_long_as_the_model(key: str) -> None:
    entries: list[Any] = {"moe_layer_pattern": [1, 0]}.get(key) or ["attention", "attention"]
    found = architecture(**{key: entries}, **EXPERTS)
    assert [each.code for each in found.diagnostics] == ["layers_mismatch"]


@pytest.mark.parametrize(
    ("keys", "missing"),
    [
        pytest.param({"num_experts": 8}, ["num_experts_per_tok"], id="top-k"),
        pytest.param({"model_type": "mixtral"}, ["num_experts", "num_experts_per_tok"], id="a family of experts"),
        pytest.param({"kv_lora_rank": 512, "v_head_dim": 64}, ["qk_nope_head_dim", "qk_rope_head_dim"], id="latent"),
        pytest.param({"layers_block_type": ["mamba"] * 6}, ["mamba_d_state", "mamba_d_head"], id="state"),
    ],
)
def test_a_dimension_that_the_layers_need_is_named(keys: dict[str, Any], missing: list[str]) -> None:
    assert [each.fact for each in architecture(**keys).missing] == missing


def test_no_dense_width_is_needed_where_no_layer_is_dense() -> None:
    section = {key: value for key, value in DIMENSIONS.items() if key != "intermediate_size"}
    found = resolve_architecture(ModelSection.model_validate(section | EXPERTS), Values())
    assert found.model is not None
