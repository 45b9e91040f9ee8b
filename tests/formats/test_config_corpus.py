"""Published config files, written in every style, read back to the same facts, questions and findings."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import yaml

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource
from tests.formats.config_corpus import expected, facts
from tests.formats.corpus import items

MODEL = {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"}
TRAINING = {"micro", "sequence_length", "world_size"}

# What a right reading of these items cannot hold, and why.
NOT_READ: Mapping[str, set[str]] = {
    # The stage is a placeholder.
    "deepspeed_json/mds_template_placeholders": {"zero_stage"},
    # The recipe that the file changes is only named outside it.
    "nemo_yaml/bridge_llama32_distill_override": {
        "num_layers",
        "hidden_size",
        "ffn_hidden_size",
        "num_attention_heads",
        "num_kv_heads",
        "head_dim",
        "vocab_size",
        "tied_embeddings",
        "activation",
        "normalization",
    },
}
MISSING: Mapping[str, set[str]] = {
    "accelerate_yaml/accelerate_invalid_keys": {*MODEL, "micro", "sequence_length"},
    "accelerate_yaml/accelerate_slurm_fsdp_partial": {*MODEL, *TRAINING},
    "accelerate_yaml/accelerate_tp_hsdp": {*MODEL, "micro", "sequence_length"},
    "accelerate_yaml/trl_deepspeed_zero3": {*MODEL, "micro", "sequence_length"},
    "accelerate_yaml/trl_fsdp2": {*MODEL, "micro", "sequence_length"},
    "axolotl_yaml/gpt_oss_120b_offload": set(),
    "axolotl_yaml/llama2_7b_qlora_fsdp1": {"world_size"},
    "axolotl_yaml/mixtral_8x22b_partial_z3": {"world_size"},
    "axolotl_yaml/qwen3_8b_fsdp_tp_cp": set(),
    "llamafactory_yaml/llama32_1b_megatron_bridge": {"world_size"},
    "llamafactory_yaml/llama3_8b_galore": set(),
    "llamafactory_yaml/qwen3_4b_full_z3": {"world_size"},
    "llamafactory_yaml/qwen3_4b_lora": {"world_size"},
    "torchtune_yaml/llama3_1_405b_qlora": {"world_size", "sequence_length"},
    "torchtune_yaml/llama3_8b_full": {"world_size", "sequence_length"},
    "torchtune_yaml/llama4_scout_full": {"world_size", "sequence_length"},
    "nanotron_yaml/mup_350m": set(),
    "nanotron_yaml/qwen_moe": set(),
    "nanotron_yaml/tiny_llama": set(),
    "nemo_yaml/bridge_llama32_distill_override": {"recipe", "world_size"},
    "nemo_yaml/gpu_recipes_mixtral_16_32": {"vocab_size", "world_size"},
    "nemo_yaml/launcher_gpt3_175b": {"vocab_size"},
    "nemo_yaml/launcher_llama3_1_405b": {"vocab_size"},
    "nemo_yaml/launcher_mixtral_8x7b": {"vocab_size"},
    "torchtitan_toml/deepseek_v3_671b": {"world_size"},
    "torchtitan_toml/llama3_70b": {"world_size"},
    "torchtitan_toml/llama3_8b": {"world_size"},
    "torchtitan_toml/qwen3_32b": {"world_size"},
    "deepspeed_json/ds_megatron_gpt2_z2_gas3": {*MODEL, "sequence_length", "world_size"},
    "deepspeed_json/lf_z2_autotp": {*MODEL, *TRAINING, "compute"},
    "deepspeed_json/lf_z2_offload": {*MODEL, *TRAINING, "compute"},
    "deepspeed_json/lf_z3_auto": {*MODEL, *TRAINING, "compute"},
    "deepspeed_json/mds_template_placeholders": {
        *MODEL, "sequence_length", "world_size", "CONFIG_BATCH_SIZE", "CONFIG_MBSIZE", "ZERO_STAGE",
        "CONFIG_FP16_ENABLED",
        "CONFIG_BF16_ENABLED",
    },
}  # fmt: skip
# Findings about the text itself, which parsed facts do not hold; each has a test of its own.
NOT_SAID: Mapping[str, set[str]] = {"nanotron_yaml/qwen_moe": {"duplicate_key"}}


def indented_json(content: Any) -> str:
    return json.dumps(content, indent=2)


def shuffled_json(content: Any) -> str:
    return json.dumps(_shuffled(content), separators=(",", ":"))


def block_yaml(content: Any) -> str:
    return yaml.safe_dump(content, sort_keys=False)


def quoted_yaml(content: Any) -> str:
    """Keys in another order, all texts in double quotes, comments and blank lines between."""
    lines = yaml.safe_dump(_shuffled(content), sort_keys=False, default_style=None, width=1000).splitlines()
    return "\n".join(
        f"{line}  # 64 GPUs\n" if not line.rstrip().endswith(("|", ">", "'", '"')) else line for line in lines
    )


def flow_yaml(content: Any) -> str:
    return yaml.safe_dump(content, default_flow_style=True, width=1000)


def plain_toml(content: Any) -> str:
    """Tables one after the other, texts in double quotes."""
    return "\n".join(_tables("", content, json.dumps)) + "\n"


def shuffled_toml(content: Any) -> str:
    """Tables and keys in another order, single quotes, comments, blank lines, and no blanks around the sign."""
    lines = _tables("", _shuffled(content), lambda text: f"'{text}'" if "'" not in text else json.dumps(text))
    return "\n\n".join(f"{line.replace(' = ', '=', 1)}  # [64] GPUs = '8'" for line in lines)


def _tables(prefix: str, table: Mapping[str, Any], quote: Callable[[str], str]) -> Iterator[str]:
    values = {key: each for key, each in table.items() if not isinstance(each, dict)}
    if prefix:
        yield f"[{prefix}]"
    yield from (f"{key} = {_toml_value(each, quote)}" for key, each in values.items())
    for key, each in table.items():
        if isinstance(each, dict):
            yield from _tables(f"{prefix}.{key}" if prefix else key, each, quote)


def _toml_value(value: Any, quote: Callable[[str], str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_toml_value(each, quote) for each in value)}]"
    if isinstance(value, str):
        return quote(value)
    return f"{value:_}" if isinstance(value, int) and not isinstance(value, bool) else str(value).lower()


def _shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        pairs = [(key, _shuffled(each)) for key, each in value.items()]
        random.Random(7).shuffle(pairs)  # noqa: S311  (an order, not a secret)
        return dict(pairs)
    return value


YAML = (block_yaml, quoted_yaml, flow_yaml)
STYLES: Mapping[str, tuple[Callable[[Any], str], ...]] = {
    "deepspeed_json": (indented_json, shuffled_json),
    "accelerate_yaml": YAML,
    "torchtitan_toml": (plain_toml, shuffled_toml),
    "nemo_yaml": YAML,
    "nanotron_yaml": YAML,
    "torchtune_yaml": YAML,
    "axolotl_yaml": YAML,
    "llamafactory_yaml": YAML,
}


def cases() -> Iterator[Any]:
    for folder, styles in STYLES.items():
        for item in items(folder):
            for style in styles:
                yield pytest.param(item, style, id=f"{item['id']}-{style.__name__}")


def differences(item: dict[str, Any], imported: Imported) -> dict[str, tuple[Any, Any]]:
    read = facts(imported)
    left_out = NOT_READ.get(item["id"], set())
    return {
        key: (value, read[key])
        for key, value in expected(item)
        if key in read and key not in left_out and read[key] != value
    }


@pytest.mark.parametrize(("item", "style"), list(cases()))
def test_a_published_file_yields_its_facts(item: dict[str, Any], style: Callable[[Any], str]) -> None:
    imported = import_source(ConfigSource(text=style(item["content"])))

    assert imported.format == item["id"].partition("_")[0]
    assert differences(item, imported) == {}
    assert {each.fact for each in imported.findings.missing} == MISSING[item["id"]]
    said = {each.code for each in imported.findings.diagnostics}
    assert {each["code"] for each in item["expected"]["diagnostics"]} - NOT_SAID.get(item["id"], set()) <= said
    assert (imported.outcome == "invalid") == (item["expected"]["valid"] is False)
    assert imported.confidence > 0.5
