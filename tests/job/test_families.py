"""What a model type implies, held against published parameter counts of dense models."""

import pytest

from service.job.families import FamilyDefaults, family_defaults, known_model_types, mlp_kind

# Model type, layers, hidden, ffn, heads, groups, head width, vocabulary, positions, parameters as published.
# Source: the models' pages on the Hugging Face hub (Llama 3 8B and 70B, Qwen3 8B, GPT-2, Mistral 7B v0.1, Qwen2.5 7B,
# Gemma 2 2B, Phi-3 mini, OLMo 2 7B, Pythia 6.9B, Gemma 2B).
PUBLISHED = [
    ("llama", 32, 4096, 14336, 32, 8, 128, 128256, 8192, False, 8_030_261_248),
    ("llama", 80, 8192, 28672, 64, 8, 128, 128256, 8192, False, 70_553_706_496),
    ("qwen3", 36, 4096, 12288, 32, 8, 128, 151936, 40960, False, 8_190_735_360),
    ("gpt2", 12, 768, 3072, 12, 12, 64, 50257, 1024, True, 124_439_808),
    ("mistral", 32, 4096, 14336, 32, 8, 128, 32000, 32768, False, 7_241_732_096),
    ("qwen2", 28, 3584, 18944, 28, 4, 128, 152064, 131072, False, 7_615_616_512),
    ("gemma2", 26, 2304, 9216, 8, 4, 256, 256000, 8192, True, 2_614_341_888),
    ("phi3", 32, 3072, 8192, 32, 32, 96, 32064, 4096, False, 3_821_079_552),
    ("olmo2", 32, 4096, 11008, 32, 32, 128, 100352, 4096, False, 7_298_617_344),
    ("gpt_neox", 32, 4096, 16384, 32, 32, 128, 50432, 2048, False, 6_857_302_016),
    ("gemma", 18, 2048, 16384, 8, 1, 256, 256000, 8192, True, 2_506_172_416),
]


def count(
    family: FamilyDefaults, layers: int, h: int, f: int, heads: int, groups: int, d: int, vocab: int, positions: int
) -> int:
    """Parameters of a dense decoder with the family's shapes."""
    norm = 2 * h if family.normalization == "layernorm" else h
    attention = h * d * (heads + 2 * groups) + heads * d * h
    attention += d * (heads + 2 * groups) if family.qkv_bias else 0
    attention += h if family.output_bias else 0
    attention += {"none": 0, "per_head": 2 * d, "full": d * (heads + groups)}[family.qk_norm]
    mlp = (3 if family.gated else 2) * h * f + ((2 if family.gated else 1) * f + h if family.mlp_bias else 0)
    embeddings = vocab * h * (1 if family.tie_word_embeddings else 2)
    embeddings += positions * h if family.position_embedding == "learned" else 0
    return layers * (attention + mlp + family.norms_per_layer * norm) + embeddings + norm


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row[0]}-{row[-1]}")
def test_the_implied_shapes_give_the_published_number_of_parameters(row: tuple[str, ...]) -> None:
    model_type, *dimensions, tied, published = row
    family = family_defaults(model_type)
    assert family is not None

    assert family.tie_word_embeddings is tied
    assert count(family, *dimensions) == published  # type: ignore[arg-type]


@pytest.mark.parametrize("model_type", known_model_types())
def test_every_family_has_its_class_and_positive_defaults(model_type: str) -> None:
    family = family_defaults(model_type)
    assert family is not None

    assert family.class_name.endswith("Config")
    assert {"hidden_size", "num_hidden_layers", "vocab_size"} <= set(family.dimensions)
    assert all(value >= 0 for value in family.dimensions.values())
    assert family.latent_attention <= family.moe


@pytest.mark.parametrize("model_type", ["custom", None, "", "nothing_like_it"])
def test_nothing_is_implied_by_an_unknown_type(model_type: str | None) -> None:
    assert family_defaults(model_type) is None


@pytest.mark.parametrize(
    ("gated", "act", "kind"),
    [(True, "silu", "swiglu"), (True, "gelu_pytorch_tanh", "geglu"), (False, "gelu_new", "gelu"),
     (False, "relu2", "relu2"), (False, "relu", "relu"), (True, "relu2", None), (False, "silu", None),
     (True, "xielu", None)],
)  # fmt: skip
def test_activation_and_gate_give_the_shape_of_the_mlp(gated: bool, act: str, kind: str | None) -> None:
    assert mlp_kind(gated, act) == kind
