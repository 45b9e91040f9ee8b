"""Which dialect a text is in, and the wire form of a source."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from service.formats.registry import import_source
from service.formats.source import LARGEST_TEXT, ConfigSource

FLAGS = "--num-layers 2 --hidden-size 8 --num-attention-heads 2 --seq-length 8 --micro-batch-size 1"


@pytest.mark.parametrize(
    ("source", "format_"),
    [
        ({"text": f"torchrun pretrain_gpt.py {FLAGS}"}, "megatron"),
        ({"text": FLAGS}, "megatron"),
        ({"text": FLAGS.replace("-", "_").replace("__", "--")}, "megatron"),
        ({"argv": FLAGS.split()}, "megatron"),
        ({"text": "num_layers: 2\nhidden_size: 8\nmicro_batch_size: 1\nseq_length: 8\n"}, "megatron"),
        ({"text": json.dumps({"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 2})}, "huggingface"),
        ({"text": json.dumps({"architectures": ["X"], "n_embd": 8, "n_layer": 2})}, "huggingface"),
    ],
)
def test_the_dialect_is_detected_with_its_confidence(source: dict[str, Any], format_: str) -> None:
    imported = import_source(ConfigSource(**source))

    assert imported.format == format_
    assert 0.5 < imported.confidence < 1


@pytest.mark.parametrize("text", ["", "hello", "zero_optimization:\n  stage: 3\n", "{}", None, "\x00\x00"])
def test_a_text_in_no_known_dialect_is_said_to_be_so(text: str | None) -> None:
    imported = import_source(ConfigSource(text=text))

    assert (imported.outcome, imported.format, imported.job) == ("invalid", "unknown", None)
    assert [each.code for each in imported.findings.diagnostics] == ["unknown_format"]


def test_a_stated_format_is_not_doubted() -> None:
    assert import_source(ConfigSource(text=FLAGS, format="megatron")).confidence == 1.0


@pytest.mark.parametrize(
    "refused",
    [
        {"format": "nonsense"},
        {"texts": ""},
        {"text": "x" * (LARGEST_TEXT + 1)},
        {"files": {"/etc/passwd": ""}},
        {"files": {"../x": ""}},
        {"files": {"a/../../x": ""}},
        {"files": {"C:\\x": ""}},
        {"files": {"a\\..\\x": ""}},
        {"files": {str(n): "" for n in range(101)}},
        {"files": {"a": "x" * LARGEST_TEXT, "b": "x"}},
        {"files": {"": ""}},
        {"world_size": 0},
        {"world_size": "8"},
        {"model": {"hidden": 8}},
        {"argv": [1]},
        {"env": {"TP": 8}},
        {"text": "\ud800"},
    ],
    ids=lambda refused: str(refused)[:40],
)
def test_a_request_that_is_no_source_is_refused(refused: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ConfigSource.model_validate(refused)


def test_every_field_of_the_source_is_described_with_an_example() -> None:
    schema = ConfigSource.model_json_schema()

    for name, field in schema["properties"].items():
        assert field.get("description"), name
        assert field.get("examples"), name


def test_the_command_at_the_end_of_a_long_script_tells_its_dialect() -> None:
    settings = "".join(f"export SETTING_{number}=some-value-of-ordinary-length\n" for number in range(15_000))
    launch = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 8 --seq-length 8\n"

    imported = import_source(ConfigSource(text=settings + launch))

    assert len(settings) > 500_000
    assert imported.format == "megatron"
    assert imported.job is not None
    assert imported.job.world_size == 8


def test_one_common_option_is_no_dialect() -> None:
    """Another launcher's options must not become a model of 768 by another script's defaults."""
    options = "--train_batch_size 256 --micro_train_batch_size 2 --pretrain x/y --bf16"
    text = f"deepspeed --module openrlhf.cli.train_sft {options}"
    found = import_source(ConfigSource(text=text))

    assert found.job is None
    assert "not_training" in {each.code for each in found.findings.diagnostics}
