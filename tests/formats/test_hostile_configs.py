"""Hostile and oversized config files: inert, refused with a diagnostic, and within the time that a request has."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from service.formats.registry import import_source
from service.formats.source import LARGEST_TEXT, ConfigSource
from tests.formats.corpus import items

# The bound is 2 s of an idle core; the time of the processor is measured, and a shared core is slower.
SECONDS = 4
FORMATS = (
    "deepspeed", "accelerate", "torchtitan", "nemo", "nanotron", "torchtune", "axolotl", "llamafactory", "hydra",
)  # fmt: skip
HEADS = {
    "deepspeed": '{"train_batch_size": 8, "x": ',
    "accelerate": "distributed_type: FSDP\nfsdp_config:\n  a: ",
    "torchtitan": '[model]\nname = "llama3"\n[training]\n',
    "nemo": "trainer:\n  devices: 8\nmodel:\n  a: ",
    "nanotron": "parallelism:\n  dp: 1\nmodel:\n  a: ",
    "torchtune": "model:\n  _component_: torchtune.models.llama3.llama3_8b\nx: ",
    "axolotl": "base_model: a\nx: ",
    "llamafactory": "finetuning_type: full\ncutoff_len: 8\nx: ",
    "hydra": "python3 -m verl.trainer.main_ppo ",
}
UNITS = [
    "[",
    "{a: ",
    "&a [*a, ",
    "- ",
    "a.b.c=1 ",
    "!!python/object:os.system x\n",
    "${a} ",
    "{{ a }} ",
    '"',
    "\n",
    "é",
    "A_B ",
    "a: b\n",
]


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("unit", UNITS)
def test_five_megabytes_of_anything_are_answered_in_time(format_: str, unit: str) -> None:
    for size in (LARGEST_TEXT, 250_000):
        text = (HEADS[format_] + unit * (size // len(unit)))[: size - 1]
        start = time.process_time()

        imported = import_source(ConfigSource(text=text, format=format_))

        assert time.process_time() - start < SECONDS
        assert imported.outcome != "ok"


@pytest.mark.parametrize("format_", FORMATS)
def test_many_keys_long_keys_and_deep_keys_are_answered_in_time(format_: str) -> None:
    documents: list[Any] = [
        {f"key_{number}": {"a" * 300: number} for number in range(9_000)},
        {"k" * 200_000: {"v": 1}},
        {"model": {f"micro_batch_siz{number}": "9" * 2_000 for number in range(90)}},
    ]
    deep: Any = 1
    for _ in range(95):
        deep = {"a": deep}
    for document in (*documents, deep):
        text = json.dumps(document)
        start = time.process_time()

        imported = import_source(ConfigSource(text=text, format=format_))

        assert time.process_time() - start < SECONDS
        assert len(str(imported)) < 1_000_000


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    "value",
    ["$(touch {proof})", "!!python/object/apply:os.system ['touch {proof}']", "`touch {proof}`", "${{oc.env:HOME}}",
     "!include {proof}"],
)  # fmt: skip
def test_nothing_in_a_file_is_executed_or_read(
    format_: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "a-home-that-nobody-sees")
    proof = tmp_path / "proof"
    inside = value.format(proof=proof)

    imported = import_source(ConfigSource(text=f"{HEADS[format_]}{inside}\n", format=format_))
    import_source(ConfigSource(argv=["torchrun", "x.py", f"model.a={inside}", "--a", inside], format=format_))

    assert not proof.exists()
    assert "a-home-that-nobody-sees" not in str(imported)


def test_no_named_file_of_the_machine_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "zero.json"
    secret.write_text('{"train_micro_batch_size_per_gpu": 77, "zero_optimization": {"stage": 1}}')
    text = f"distributed_type: DEEPSPEED\nnum_machines: 1\ndeepspeed_config:\n  deepspeed_config_file: {secret}\n"

    imported = import_source(ConfigSource(text=text, format="accelerate"))

    assert "77" not in str(imported)
    assert "zero.json" in {each.fact for each in imported.findings.missing}


def test_ordinary_files_are_read_quickly() -> None:
    for folder in (
        "nemo_yaml",
        "nanotron_yaml",
        "torchtune_yaml",
        "axolotl_yaml",
        "llamafactory_yaml",
        "accelerate_yaml",
    ):
        for item in items(folder):
            text = yaml.safe_dump(item["content"])
            start = time.process_time()

            import_source(ConfigSource(text=text))

            # 100 ms for each 100 KB on an idle core; these have a few KB.
            assert time.process_time() - start < 1


NUMBERS = st.sampled_from(
    [0, -1, 1, 2, 8, 10**6, 10**18, 10**30, 1.5, -0.0, float("inf"), float("nan"), True, False, None, "", "auto", "8",
    "eight",
     "5e8", "1e99", "9" * 80, "none", "${x}", "${.x}", "{{ y }}", "<z>", "CONFIG_Z", [], [1], {}, {"a": 1}, "16k"]
)  # fmt: skip


def _paths(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(value, dict):
        return [path]
    return [each for key, inner in value.items() for each in _paths(inner, (*path, key))]


DOCUMENTS = [
    (item["id"].partition("_")[0], item["content"])
    for folder in (
        "deepspeed_json", "accelerate_yaml", "nemo_yaml", "nanotron_yaml", "torchtune_yaml", "axolotl_yaml",
        "llamafactory_yaml",
    )
    for item in items(folder)
]  # fmt: skip


@given(st.data())
@settings(max_examples=250, deadline=None)
def test_no_value_anywhere_makes_a_reader_fail(data: st.DataObject) -> None:
    format_, content = data.draw(st.sampled_from(DOCUMENTS))
    document = json.loads(json.dumps(content))
    paths = data.draw(st.lists(st.sampled_from(_paths(document)), min_size=1, max_size=6))
    for path in paths:
        node = document
        for part in path[:-1]:
            node = node[part] if isinstance(node.get(part), dict) else node.setdefault(part + "_", {})
        node[path[-1]] = data.draw(NUMBERS)
    text = json.dumps(document) if format_ == "deepspeed" else yaml.safe_dump(document)
    world = data.draw(st.sampled_from([None, 1, 7, 64, 10**6]))

    imported = import_source(ConfigSource(text=text, format=format_, world_size=world))

    assert imported.outcome in {"ok", "incomplete", "invalid"}


def test_a_required_value_that_is_refused_takes_its_section_with_it() -> None:
    text = "base_model: gpt2\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nadapter: lora\nlora_r: 0\n"

    imported = import_source(ConfigSource(text=text, format="axolotl"))

    assert imported.outcome == "invalid"
    assert imported.job is not None
    assert imported.job.adapters is None


TOML_KEYS = st.sampled_from([
    "training.seq_len", "training.local_batch_size", "training.global_batch_size", "parallelism.tensor_parallel_degree",
    "parallelism.pipeline_parallel_degree", "parallelism.pipeline_parallel_layers_per_stage",
    "parallelism.data_parallel_shard_degree",
    "parallelism.data_parallel_replicate_degree", "parallelism.context_parallel_degree",
    "parallelism.expert_parallel_degree",
    "parallelism.pipeline_parallel_schedule", "parallelism.module_fqns_per_model_part",
    "parallelism.num_pp_microbatches",
    "parallelism.pipeline_parallel_first_stage_less_layers", "training.num_tokens_per_microbatch_per_dp_rank",
    "training.num_tokens_per_train_step", "training.max_context_length", "activation_checkpoint.mode", "model.flavor",
    "activation_checkpoint.selective_ac_option", "parallelism.expert_tensor_parallel_degree", "compile.components",
])  # fmt: skip
TOML_VALUES = st.sampled_from(
    ["0", "-1", "1", "2", "8", "9999999999", "1.5", "true", '""', '"Interleaved1F1B"', '"op"', '"memory_budget"', "[]",
    "[[1]]",
     '"8B"', '"671B"', "nan", "inf", "1979-05-27", "[{a = 1}]"]
)  # fmt: skip


@given(st.dictionaries(TOML_KEYS, TOML_VALUES, max_size=10), st.sampled_from([None, 1, 8, 96]))
@settings(max_examples=200, deadline=None)
def test_no_value_makes_the_reader_of_toml_fail(values: dict[str, str], world: int | None) -> None:
    text = 'model.name = "llama3"\n' + "\n".join(f"{key} = {value}" for key, value in values.items())

    imported = import_source(ConfigSource(text=text, format="torchtitan", world_size=world))

    assert imported.outcome in {"ok", "incomplete", "invalid"}


WORDS = st.sampled_from(
    ["actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=", "trainer.nnodes=", "~a.b", "++a.b=", "model=", "#",
     "\\\n", "[", "'", '"', "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=",
     "actor_rollout_ref.rollout.n=",
     "+actor_rollout_ref.actor.megatron.override_transformer_config.num_layers=", "--config-name=",
     "actor_rollout_ref.actor.ulysses_sequence_parallel_size=", "data.train_batch_size=",
     "actor_rollout_ref.actor.strategy=", "8 ", "0 ", "-1 ", "megatron ", "fsdp2 ", "[1,2] ", "${a.b} ",
     "9999999999999999999999 ", "1.5 "]
)  # fmt: skip


@given(st.lists(WORDS, max_size=24))
@settings(max_examples=200, deadline=None)
def test_no_words_make_the_reader_of_overrides_fail(pieces: list[str]) -> None:
    imported = import_source(ConfigSource(text="".join(pieces) or "x", format="hydra"))

    assert imported.outcome in {"ok", "incomplete", "invalid"}
