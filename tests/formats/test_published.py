"""Models that a config only names: hub names of the published model, of copies, and of nobody."""

import pytest

from service.formats.config.published import named_model


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


@pytest.mark.parametrize("name", ["", "/", "x/y", "meta-llama/Llama-9-8B", "a" * 5000, "../../etc/passwd"])
def test_any_other_name_leads_nowhere(name: str) -> None:
    assert named_model(name) is None
