"""Models that a config only names: hub names of the published model, of copies, and of nobody."""

import pytest

from service.calculator.parameters import model_parameters
from service.formats.config.published import named_model
from service.job.architecture import resolve_architecture
from service.job.schema import ModelSection
from service.job.values import Values


@pytest.mark.parametrize(
    ("name", "preset", "exact"),
    [
        ("Qwen/Qwen3-8B", "qwen3-8b", True),
        ("qwen/qwen3-8b", "qwen3-8b", True),
        ("Qwen/Qwen3-4B-Instruct-2507", "qwen3-4b", False),
        ("NousResearch/Llama-2-7b-hf", "llama-2-7b", False),
        ("unsloth/Meta-Llama-3.1-8B-bnb-4bit", "llama-3.1-8b", False),
        ("mistralai/Mistral-7B-Instruct-v0.2", "mistral-7b", False),
        ("Qwen/Qwen3-VL-235B-A22B-Instruct", "qwen3-235b-a22b", False),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.1-70b", False),
        ("gpt2-large", "gpt-2-large", False),
        ("llama3_8b", "llama-3-8b", False),
    ],
)
def test_a_name_leads_to_the_dimensions_of_the_model_it_was_made_from(name: str, preset: str, exact: bool) -> None:
    found = named_model(name)

    assert found is not None
    assert found.preset is not None
    assert (found.preset.name, found.exact, dict(found.config)) == (preset, exact, {})


@pytest.mark.parametrize(
    ("name", "vocabulary"),
    [
        ("mistralai/Mistral-7B-v0.3", 32768),
        ("mistralai/Mistral-7B-Instruct-v0.3", 32768),
        ("mistralai/Mixtral-8x22B-Instruct-v0.1", 32768),
        ("codellama/CodeLlama-7b-hf", 32016),
        ("TinyLlama/TinyLlama-1.1B-Chat-v1.0", 32000),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", 49152),
        ("google/gemma-7b-it", 256000),
    ],
)
def test_what_differs_from_a_preset_or_has_none_is_in_a_table(name: str, vocabulary: int) -> None:
    found = named_model(name)

    assert found is not None
    assert found.config["vocab_size"] == vocabulary


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("mistralai/Mistral-Nemo-Base-2407", 12_247_782_400),
        ("mistralai/Mistral-Small-24B-Base-2501", 23_572_403_200),
        ("01-ai/Yi-34B", 34_388_917_248),
        ("01-ai/Yi-6B", 6_061_035_520),
        ("01-ai/Yi-9B", 8_829_407_232),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", 480_154_875_392),
        ("deepseek-ai/deepseek-llm-7b-base", 6_910_365_696),
        ("deepseek-ai/deepseek-coder-6.7b-base", 6_740_512_768),
        ("EleutherAI/pythia-12b", 11_846_072_320),
        ("EleutherAI/pythia-6.9b", 6_857_302_016),
        ("EleutherAI/pythia-2.8b", 2_775_208_960),
        ("EleutherAI/pythia-1.4b", 1_414_647_808),
        ("EleutherAI/pythia-1b", 1_011_781_632),
        ("EleutherAI/pythia-410m", 405_334_016),
        ("EleutherAI/pythia-160m", 162_322_944),
        ("EleutherAI/pythia-70m", 70_426_624),
        ("HuggingFaceTB/SmolLM3-3B", 3_075_098_624),
        ("google/gemma-3-270m", 268_098_176),
        ("Qwen/Qwen1.5-7B", 7_721_324_544),
        ("bigcode/starcoder2-7b", 7_173_923_840),
        ("bigcode/starcoder2-15b", 15_957_889_024),
        ("bigcode/starcoder2-3b", 3_030_371_328),
        ("ibm-granite/granite-3.1-8b-base", 8_170_848_256),
        ("ibm-granite/granite-3.1-2b-base", 2_533_531_648),
        ("huggyllama/llama-65b", 65_285_660_672),
        ("huggyllama/llama-30b", 32_528_943_616),
        ("Qwen/Qwen1.5-0.5B", 463_987_712),
        ("Qwen/Qwen1.5-14B", 14_167_290_880),
        ("Qwen/Qwen1.5-72B", 72_287_920_128),
        ("Qwen/Qwen1.5-1.8B", 1_836_828_672),
        ("Qwen/Qwen1.5-4B", 3_950_369_280),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", 1_777_088_000),
        ("TinyLlama/TinyLlama_v1.1", 1_100_048_384),
        ("deepseek-ai/deepseek-coder-33b-base", 33_342_991_360),
        ("deepseek-ai/deepseek-coder-1.3b-base", 1_346_471_936),
        ("huggyllama/llama-7b", 6_738_415_616),
        ("huggyllama/llama-13b", 13_015_864_320),
    ],
)
def test_named_models_have_as_many_parameters_as_their_published_weights(name: str, parameters: int) -> None:
    """The counts are those of the weights on the hub."""
    found = named_model(name)

    assert found is not None
    config = {**(found.preset.config if found.preset else {}), **found.config}
    model = resolve_architecture(ModelSection.model_validate(config), Values()).model
    assert model is not None
    assert model_parameters(model) == parameters


@pytest.mark.parametrize("name", ["", "/", "x/y", "meta-llama/Llama-9-8B", "a" * 5000, "../../etc/passwd"])
def test_any_other_name_leads_nowhere(name: str) -> None:
    assert named_model(name) is None
