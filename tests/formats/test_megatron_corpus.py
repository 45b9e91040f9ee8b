"""Published Megatron configs, written in every style, read back to the same facts."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource
from tests.formats.corpus import expected, facts, items
from tests.formats.rendering import STYLES, directives, launch_line

# What a right reading of these items cannot hold, and why.
NOT_READ = {
    # The tokenizer knows it; the arguments do not.
    "megatron_shell/rocm_llama3_70b_default": {"vocab_size"},
    # The last step of the schedule is taken, because it decides how many micro-batches run.
    "megatron_args_yaml/mlm_gpt3_15b_8t": {"global"},
}
MISSING = {
    "megatron_shell/mds_gpt_1p3b_moe128": {"vocab_size"},
    "megatron_shell/mlm_gpt3_175b": {"vocab_size"},
    "megatron_shell/mlm_llama3_8b_fp8": set(),
    "megatron_shell/mlm_mamba_hybrid_800m": {"vocab_size"},
    "megatron_shell/mlm_megatron_fsdp_llama3_8b": set(),
    "megatron_shell/mlm_sc21_table1_1p7b": {"vocab_size", "world_size"},
    "megatron_shell/rocm_llama3_70b_default": {"vocab_size"},
    "megatron_shell/slime_qwen3_235b": {"micro", "sequence_length"},
    "slurm/aws_megatron_llama2_70b": {"vocab_size"},
    "slurm/bloom_176b": set(),
    "megatron_args_yaml/mlm_deepseek_proxy_fsdp_ep2": {"vocab_size", "world_size"},
    "megatron_args_yaml/mlm_gpt3_15b_8t": {"vocab_size", "world_size"},
    "megatron_args_yaml/mlm_mixtral_8x22b_tp2pp8ep8": {"vocab_size", "world_size"},
    "megatron_args_yaml/primus_llama3_1_70b_fsdp2": {"world_size"},
}
# Codes beside those that the item itself expects.
FURTHER_CODES = {
    "megatron_shell/mlm_gpt3_175b": {"batch_conflict"},
    "megatron_shell/mlm_llama3_8b_fp8": {"ignored_option"},
    "megatron_shell/rocm_llama3_70b_default": {"repeated_flag"},
    "megatron_shell/slime_qwen3_235b": {"multiple_roles"},
}
# What stands elsewhere in the published script: the number of GPUs is only a variable there.
PRELUDES = {"megatron_shell/mds_gpt_1p3b_moe128": ["NUM_GPUS=64"]}

# Other batch scripts of the corpus start other programs.
SCRIPTS = [*items("megatron_shell"), *(each for each in items("slurm") if each["id"] in MISSING)]


def codes(item: dict[str, Any]) -> set[str]:
    return {each["code"] for each in item["expected"]["diagnostics"]} | FURTHER_CODES.get(item["id"], set())


def cases() -> Iterator[Any]:
    for item in SCRIPTS:
        for style in STYLES:
            yield pytest.param(item, style, id=f"{item['id'].rpartition('/')[2]}-{style}")


def differences(item: dict[str, Any], imported: Imported) -> dict[str, tuple[Any, Any]]:
    read = facts(imported)
    left_out = NOT_READ.get(item["id"], set())
    return {
        key: (value, read[key])
        for key, value in expected(item)
        if key in read and key not in left_out and read[key] != value
    }


@pytest.mark.parametrize(("item", "style"), list(cases()))
def test_a_launch_script_yields_the_facts_of_its_config(item: dict[str, Any], style: str) -> None:
    head = ["#!/bin/bash", *directives(item.get("sbatch", {})), *PRELUDES.get(item["id"], [])]
    script = STYLES[style](head, launch_line(item["launcher"]), item["script_args"])

    imported = import_source(ConfigSource(text=script.text, argv=list(script.argv)))

    assert differences(item, imported) == {}
    assert {each.fact for each in imported.findings.missing} == MISSING[item["id"]]
    assert codes(item) <= {each.code for each in imported.findings.diagnostics}
    assert imported.format == "megatron"
    assert imported.confidence > 0.9


@pytest.mark.parametrize("item", SCRIPTS, ids=lambda item: item["id"].rpartition("/")[2])
def test_an_argument_list_yields_the_same_facts(item: dict[str, Any]) -> None:
    words = [word for argument in item["script_args"] for word in argument]

    as_list = import_source(ConfigSource(argv=words, world_size=item["expected"]["parallel"]["world_size"]))

    skipped = {"world_size", "dp"}
    assert {key: each for key, each in differences(item, as_list).items() if key not in skipped} == {}


@pytest.mark.parametrize("item", items("megatron_args_yaml"), ids=lambda item: item["id"].rpartition("/")[2])
def test_a_yaml_file_of_arguments_yields_the_facts_of_its_config(item: dict[str, Any]) -> None:
    imported = import_source(ConfigSource(text=yaml.safe_dump(item["content"], sort_keys=False)))

    assert differences(item, imported) == {}
    assert {each.fact for each in imported.findings.missing} == MISSING[item["id"]]
    assert codes(item) <= {each.code for each in imported.findings.diagnostics}
    assert imported.outcome == "incomplete"


@pytest.mark.parametrize("item", SCRIPTS, ids=lambda item: item["id"].rpartition("/")[2])
def test_published_scripts_cause_no_noise_about_unknown_flags(item: dict[str, Any]) -> None:
    words = [word for argument in item["script_args"] for word in argument]

    imported = import_source(ConfigSource(argv=words))

    # This one mixes the flags of a reinforcement-learning launcher and of an inference engine with Megatron's.
    if not item["id"].endswith("slime_qwen3_235b"):
        assert imported.unknown == ()
