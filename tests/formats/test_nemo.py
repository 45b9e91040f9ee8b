"""NeMo's launcher and Megatron-Bridge: the same job as Megatron's flags, interpolation, overrides, recipes."""

from typing import Any

import pytest
import yaml

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource
from service.job.schema import ModelSection

LAUNCHER = {
    "trainer": {"num_nodes": 8, "devices": 8, "precision": "bf16"},
    "model": {
        "mcore_gpt": True,
        "micro_batch_size": 1,
        "global_batch_size": 256,
        "tensor_model_parallel_size": 4,
        "pipeline_model_parallel_size": 2,
        "virtual_pipeline_model_parallel_size": 4,
        "encoder_seq_length": 4096,
        "max_position_embeddings": 4096,
        "num_layers": 32,
        "hidden_size": 4096,
        "ffn_hidden_size": "${multiply:4, ${.hidden_size}}",
        "num_attention_heads": 32,
        "num_query_groups": 8,
        "sequence_parallel": True,
        "activation": "fast-swiglu",
        "normalization": "rmsnorm",
        "position_embedding_type": "rope",
        "bias": False,
        "share_embeddings_and_output_weights": False,
        "hidden_dropout": 0.0,
        "attention_dropout": 0.0,
        "override_vocab_size": 32000,
        "activations_checkpoint_granularity": "selective",
        "optim": {"name": "mcore_distributed_optim"},
    },
}
FLAGS = (
    "torchrun --nnodes 8 --nproc_per_node 8 pretrain_gpt.py --micro-batch-size 1 --global-batch-size 256 "
    "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 4 "
    "--seq-length 4096 --max-position-embeddings 4096 --num-layers 32 --hidden-size 4096 --ffn-hidden-size 16384 "
    "--num-attention-heads 32 --group-query-attention --num-query-groups 8 --sequence-parallel --swiglu "
    "--normalization RMSNorm --position-embedding-type rope --disable-bias-linear --bf16 "
    "--untie-embeddings-and-output-weights --hidden-dropout 0.0 --attention-dropout 0.0 --vocab-size 32000 "
    "--recompute-granularity selective --use-distributed-optimizer"
)


def read(config: dict[str, Any] | str, **given: Any) -> Imported:
    text = config if isinstance(config, str) else yaml.safe_dump(config, sort_keys=False)
    return import_source(ConfigSource(text=text, format="nemo", **given))


def changed(**model: Any) -> dict[str, Any]:
    return {**LAUNCHER, "model": {**LAUNCHER["model"], **model}}


def job(imported: Imported) -> Any:
    assert imported.job is not None
    return imported.job


def codes(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.diagnostics}


def missing(imported: Imported) -> set[str]:
    return {each.fact for each in imported.findings.missing}


def test_the_same_job_in_flags_and_in_yaml_is_the_same() -> None:
    assert job(read(LAUNCHER)) == job(import_source(ConfigSource(text=FLAGS)))


def test_the_launchers_outer_level_may_be_there_or_not() -> None:
    assert job(read({"training": LAUNCHER, "cluster": {"name": "x"}})) == job(read(LAUNCHER))


@pytest.mark.parametrize(
    ("expression", "width"),
    [
        ("${multiply:4, ${.hidden_size}}", 16384),
        ("${multiply:${.hidden_size},4}", 16384),
        ("${model.hidden_size}", 4096),
        ("${training.model.hidden_size}", 4096),
        ("${divide_ceil:${multiply:8, ${.hidden_size}}, 3}", 10923),
        ("${add:${.hidden_size}, 1}", 4097),
    ],
)
def test_references_and_arithmetic_are_resolved(expression: str, width: int) -> None:
    assert job(read(changed(ffn_hidden_size=expression))).model.intermediate_size == width


@pytest.mark.parametrize("expression", ["${multiply:9e99,9e99}", "${divide:1,0}", "${.ffn_hidden_size}", "${nowhere}"])
def test_what_cannot_be_resolved_is_asked_for_or_refused(expression: str) -> None:
    imported = read(changed(ffn_hidden_size=expression))

    assert imported.outcome != "ok"
    assert job(imported).model.intermediate_size is None


def test_environment_defaults_are_taken_and_open_ones_asked_for() -> None:
    default = read(changed(micro_batch_size="${oc.env:MBS,2}"))
    open_ = read(changed(micro_batch_size="${oc.env:MBS}"))
    given = read(changed(micro_batch_size="${oc.env:MBS}"), env={"MBS": "3"})

    assert (job(default).batch.micro, job(given).batch.micro) == (2, 3)
    assert "MBS" in missing(open_)


def test_eight_bit_training_needs_its_own_switch() -> None:
    assert job(read(changed(fp8=False, fp8_hybrid=True))).precision.fp8 is None
    assert job(read(changed(fp8=True, fp8_hybrid=True))).precision.fp8.recipe == "delayed"


def test_without_o2_weights_stay_in_fp32() -> None:
    assert job(read(changed(megatron_amp_O2=False))).precision.parameters == "fp32"


def test_the_vocabulary_of_a_tokenizer_is_asked_for() -> None:
    assert missing(read(changed(override_vocab_size=None))) == {"vocab_size"}


def test_overrides_replace_add_and_remove() -> None:
    argv = [
        "python",
        "run.py",
        "model.micro_batch_size=2",
        "+model.context_parallel_size=2",
        "~model.sequence_parallel",
    ]

    found = job(read(LAUNCHER, argv=argv))

    assert (found.batch.micro, found.parallelism.context, found.parallelism.sequence) == (2, 2, False)


def test_an_override_given_twice_is_refused_as_hydra_does() -> None:
    imported = read(LAUNCHER, argv=["model.micro_batch_size=2", "model.micro_batch_size=4"])

    assert "duplicate_key" in {each.code for each in imported.findings.errors}


def test_a_choice_of_a_group_asks_for_its_file() -> None:
    imported = import_source(ConfigSource(argv=["training=gpt3/175b", "training.trainer.num_nodes=4"], format="nemo"))

    assert "gpt3/175b" in missing(imported)


BRIDGE = {
    "model": {"seq_length": 4096, "tensor_model_parallel_size": 2, "sequence_parallel": True},
    "train": {"global_batch_size": 8, "micro_batch_size": 1},
    "ddp": {"grad_reduce_in_fp32": True},
}


def test_a_bridge_file_only_changes_a_recipe_which_is_asked_for() -> None:
    imported = read(BRIDGE)

    assert missing(imported) == {"recipe", "world_size"}
    assert "recipe_defaults" in codes(imported)


def test_a_bridge_file_is_complete_once_the_recipe_or_the_model_is_known() -> None:
    named = read(BRIDGE, argv=["run_recipe.py", "--recipe", "llama32_1b_pretrain_config"], world_size=8)
    given = read(BRIDGE, model=ModelSection(preset="llama-3.2-1b"), world_size=8)

    assert named.outcome == given.outcome == "ok"
    assert job(named).model.hidden_size == job(given).model.hidden_size == 2048
    assert job(named).sharding.stage == 1


def test_unknown_keys_are_named_with_the_nearest_known_one() -> None:
    imported = read(changed(tensor_model_paralel_size=8))

    assert list(imported.unknown) == ["model.tensor_model_paralel_size"]
    message = next(each.message for each in imported.findings.diagnostics if each.code == "unknown_keys")
    assert "did you mean model.tensor_model_parallel_size?" in message


@pytest.mark.parametrize(
    ("targets", "modules"),
    [
        (["linear_qkv", "linear_proj"], ["q", "k", "v", "o"]),
        (["linear_q", "linear_v"], ["q", "v"]),
        (None, ["q", "k", "v", "o", "gate", "up", "down"]),
        (["*.layers.0.*.linear_qkv"], ["q", "k", "v", "o", "gate", "up", "down"]),
    ],
)
def test_adapters_sit_on_the_products_that_are_named(targets: list[str] | None, modules: list[str]) -> None:
    """Megatron-Bridge's names; a pattern over some layers is taken for all of them, and for every product."""
    peft = {"dim": 16, "dropout": 0.1} | ({"target_modules": targets} if targets else {})
    adapters = job(read({**LAUNCHER, "peft": peft})).adapters
    assert (adapters.rank, adapters.dropout, adapters.modules) == (16, 0.1, modules)


def test_a_resolver_that_is_not_known_is_asked_for_and_is_no_default() -> None:
    found = read(changed(sequence_parallel="${if_greater:${.tensor_model_parallel_size},1}"))

    assert "if_greater" in {each.fact for each in found.findings.missing}
    assert not found.findings.errors
