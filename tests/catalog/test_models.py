import re

import pytest

from service.catalog.models import ModelPreset, UnknownModel, find_model, load_models
from service.job.schema import ModelSection
from tests.catalog.parameter_count import Counter

COUNTED = [preset for preset in load_models().values() if preset.parameters is not None]
SIZES_OF_GPT_3 = {"125m": 125e6, "350m": 350e6, "760m": 760e6, "1.3b": 1.3e9, "2.7b": 2.7e9, "6.7b": 6.7e9}
SIZES_OF_GPT_3 |= {"13b": 13e9, "175b": 175e9}

# SigLIP-so400m of the Gemma 3 checkpoints, whose projector adds 1152 × (hidden_size + 1).
SIGLIP = 416_866_032


@pytest.mark.parametrize("preset", COUNTED, ids=lambda preset: preset.name)
def test_an_independent_count_gives_the_published_parameters(preset: ModelPreset) -> None:
    assert Counter(preset).total() + preset.buffer_elements == preset.parameters


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("llama-2-7b", 6_738_415_616),
        ("llama-3-8b", 8_030_261_248),
        ("llama-3-70b", 70_553_706_496),
        ("llama-3.1-405b", 405_853_388_800),
        ("qwen3-8b", 8_190_735_360),
        ("qwen3-30b-a3b", 30_532_122_624),
        ("qwen3-235b-a22b", 235_093_634_560),
        ("gpt-2-small", 124_439_808),
        ("gpt-neox-20b", 20_554_567_680),
        ("bloom-560m", 559_214_592),
        ("bloom-176b", 176_247_271_424),
        ("opt-125m", 125_239_296),
        ("opt-6.7b", 6_658_473_984),
        ("mpt-7b", 6_649_286_656),
        ("mixtral-8x7b", 46_702_792_704),
        ("deepseek-v3", 671_026_419_200),
        ("kimi-k2", 1_026_408_232_448),
        ("gpt-oss-120b", 116_829_156_672),
    ],
)
def test_well_known_counts(name: str, published: int) -> None:
    assert find_model(name).parameters == published


@pytest.mark.parametrize(
    ("name", "published"),
    [("gemma-3-4b", 4_300_079_472), ("gemma-3-12b", 12_187_325_040), ("gemma-3-27b", 27_432_406_640)],
)
def test_the_rest_of_a_gemma_3_checkpoint_is_its_vision_tower(name: str, published: int) -> None:
    preset = find_model(name)
    assert preset.parameters is not None
    projector = 1152 * (int(str(preset.config["hidden_size"])) + 1)
    assert published == preset.parameters + SIGLIP + projector


def test_both_llama_4_checkpoints_add_the_same_vision_tower() -> None:
    scout, maverick = find_model("llama-4-scout").parameters, find_model("llama-4-maverick").parameters
    assert scout is not None
    assert maverick is not None
    assert 108_641_793_536 - scout == 401_583_781_376 - maverick


def test_the_rest_of_the_qwen3_next_checkpoint_is_one_prediction_depth() -> None:
    preset = find_model("qwen3-next-80b-a3b")
    assert preset.parameters is not None
    assert preset.parameters + Counter(preset).prediction_depth() == 81_324_862_720


@pytest.mark.parametrize(("name", "published"), [("glm-4.5", 358_337_791_296), ("glm-4.5-air", 110_468_824_832)])
def test_a_glm_checkpoint_repeats_embedding_and_head_in_its_prediction_depth(name: str, published: int) -> None:
    preset = find_model(name)
    assert preset.parameters is not None
    experts, vocabulary, hidden = (int(str(preset.config[key])) for key in ("num_experts", "vocab_size", "hidden_size"))
    depth = Counter(preset).prediction_depth() + experts + 2 * vocabulary * hidden
    assert preset.parameters + depth == published


@pytest.mark.parametrize(
    ("name", "published"),
    [("falcon-7b", 7_217_189_760), ("falcon-40b", 41_835_970_560), ("falcon-180b", 179_522_565_120)],
)
def test_a_falcon_checkpoint_stores_its_tied_head_again(name: str, published: int) -> None:
    preset = find_model(name)
    assert preset.parameters is not None
    vocabulary, hidden = (int(str(preset.config[key])) for key in ("vocab_size", "hidden_size"))
    assert preset.parameters + vocabulary * hidden == published


@pytest.mark.parametrize(("size", "nominal"), SIZES_OF_GPT_3.items())
def test_gpt_3_sizes_are_within_two_percent_of_their_names(size: str, nominal: float) -> None:
    preset = find_model(f"gpt-3-{size}")
    assert preset.parameters is None
    assert Counter(preset).total() == pytest.approx(nominal, rel=0.02)


@pytest.mark.parametrize("preset", load_models().values(), ids=lambda preset: preset.name)
def test_a_preset_is_a_valid_model_section_of_a_job(preset: ModelPreset) -> None:
    section = ModelSection.model_validate(dict(preset.config)).model_dump(exclude_none=True)
    assert section["hidden_size"] == preset.config["hidden_size"]
    assert section.keys() == preset.config.keys()


def test_names_are_lower_case_with_dashes_and_lead_to_themselves() -> None:
    assert len(load_models()) == 82
    for name in load_models():
        assert re.fullmatch(r"[a-z0-9.]+(-[a-z0-9.]+)*", name)
        assert find_model(name).name == name


def test_every_preset_names_its_source_and_the_copy_that_was_read() -> None:
    assert all(preset.source and preset.read_from for preset in load_models().values())


def test_a_cycle_of_layer_kinds_covers_every_layer() -> None:
    gemma, next_ = find_model("gemma-3-27b"), find_model("qwen3-next-80b-a3b")
    kinds = gemma.config["layer_types"]
    assert isinstance(kinds, tuple)
    assert len(kinds) == 62
    assert [index for index, kind in enumerate(kinds) if kind == "full_attention"] == list(range(5, 62, 6))
    assert str(next_.config["layer_types"]).count("'linear_attention'") == 36


def test_the_bias_that_balances_experts_is_no_trained_parameter() -> None:
    assert find_model("deepseek-v3").buffer_elements == 58 * 256
    assert find_model("deepseek-v2").buffer_elements == 0


@pytest.mark.parametrize(
    ("spelling", "name"), [("gpt2", "gpt-2-small"), ("GPT2-XL", "gpt-2-xl"), ("Llama 3 8B", "llama-3-8b")]
)
def test_other_spellings_of_a_name(spelling: str, name: str) -> None:
    assert find_model(spelling).name == name


def test_an_unknown_model_is_answered_with_close_ones() -> None:
    with pytest.raises(UnknownModel, match=r"no model preset is called 'llama3-8b'; did you mean llama-3-8b") as caught:
        find_model("llama3-8b")
    assert caught.value.matches[0] == "llama-3-8b"


def test_a_preset_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        find_model("llama-3-8b").config["hidden_size"] = 1  # type: ignore[index]
