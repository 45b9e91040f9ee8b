"""Batch scripts: how many processes run, and the command in them, whatever dialect it is written in."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.formats.syntax.values import ValueFault, memory_bytes
from service.usecases.imports import import_config
from tests.formats.corpus import expected, facts, items
from tests.formats.rendering import STYLES, directives, launch_line

FSDP = "train.py --max_context_width=4096 --hidden_width 4096 --num_layers 32 --num_heads 32 --model_type llama_v3"
MEGATRON = (
    "pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --ffn-hidden-size 16384 --bf16 "
    "--seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 1 --vocab-size 32000"
)
BATCH = "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:h100:8\n"


def read(text: str, **source: object) -> Imported:
    return import_config(ConfigSource.model_validate({"text": text, **source}))


def codes(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.diagnostics}


def missing(imported: Imported) -> set[str]:
    return {each.fact for each in imported.findings.missing}


@pytest.mark.parametrize(
    ("command", "size"),
    [
        ("srun torchrun --nnodes 4 --nproc_per_node 8", 32),
        ("srun torchrun --nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_ON_NODE", 32),
        ("srun torchrun --nnodes=$SLURM_JOB_NUM_NODES --nproc-per-node=gpu", 32),
        ("srun -N 2 --ntasks-per-node 8 python", 16),
        ("accelerate launch --num_processes 16", 16),
        ("mpirun -np 24 python", 24),
    ],
)
@pytest.mark.parametrize(("program", "format_"), [(FSDP, "torch_fsdp"), (MEGATRON, "megatron")])
def test_the_command_of_a_batch_script_goes_to_its_dialect(command: str, size: int, program: str, format_: str) -> None:
    imported = read(f"{BATCH}{command} {program}\n")

    assert imported.format == format_
    assert imported.job is not None
    assert imported.job.world_size == size
    assert imported.job.model.num_hidden_layers == 32


def test_the_command_may_be_a_shell_s_text() -> None:
    imported = read(
        f'{BATCH}srun bash -c "torchrun --nnodes 4 --nproc_per_node 8 --node_rank \\$SLURM_NODEID {FSDP}"\n'
    )

    assert imported.format == "torch_fsdp"
    assert imported.job is not None
    assert imported.job.world_size == 32


def test_what_a_script_leaves_open_is_asked_for_by_name_where_it_matters() -> None:
    text = f"{BATCH}srun torchrun --nnodes 4 --nproc_per_node 8 {FSDP} --train_batch_size $MBS --checkpoint_dir $OUT\n"

    open_, given = read(text), read(text, env={"MBS": "3"})

    assert missing(open_) == {"MBS", "vocab_size"}
    assert missing(given) == {"vocab_size"}
    assert given.job is not None
    assert given.job.batch.micro == 3


def test_a_config_file_that_is_only_named_is_asked_for() -> None:
    imported = read(f"{BATCH}srun torchrun --nnodes 4 --nproc_per_node 8 train.py --config-file conf/big.toml\n")

    assert (imported.outcome, missing(imported)) == ("incomplete", {"big.toml"})
    assert {"missing_file", "referenced_file_missing"} <= codes(imported)
    assert imported.job is not None
    assert imported.job.world_size == 32


def test_a_program_that_nobody_knows_is_said_to_be_one() -> None:
    imported = read(f"{BATCH}srun torchrun --nnodes 4 --nproc_per_node 8 resnet.py --epochs 2\n")

    assert imported.outcome == "invalid"
    assert {"not_training", "no_training_config"} <= codes(imported)


TWO_NODES = "torchrun --nnodes 2 --nproc_per_node 8"


@pytest.mark.parametrize(
    ("directives", "command", "code"),
    [
        ("#SBATCH -N 2\n#SBATCH --ntasks-per-node=8\n", f"srun {TWO_NODES}", "tasks_per_node"),
        ("#SBATCH -N 2\n#SBATCH --gres=gpu:4\n", TWO_NODES, "processes_exceed_gpus"),
        ("#SBATCH -N 2\n#SBATCH --gres=gpu:8\n#SBATCH --ntasks-per-node=4\n", "srun python", "tasks_per_node"),
        ("#SBATCH --gres=gpu:8\n", "torchrun --nproc_per_node 8", "nodes_from_command_line"),
        ("#SBATCH --nodes=1\n#SBATCH --mem=lots\n", "torchrun --nproc_per_node 8", "value_type"),
    ],
)
@pytest.mark.parametrize("program", [FSDP, MEGATRON])
def test_batch_options_that_do_not_fit_the_launch_are_pointed_out(
    directives: str, command: str, code: str, program: str
) -> None:
    assert code in codes(read(f"#!/bin/bash\n{directives}{command} {program}\n"))


def test_one_task_on_a_node_starts_a_launcher() -> None:
    directives = "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=8\n#SBATCH --mem=500G\n"
    found = codes(read(f"#!/bin/bash\n{directives}srun torchrun --nnodes 2 --nproc_per_node 8 {FSDP}\n"))

    assert not found & {"tasks_per_node", "processes_exceed_gpus", "nodes_from_command_line", "value_type"}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8GB", 8 * 10**9), ("8Gi", 8 * 2**30), ("8192MiB", 8 * 2**30), ("24GB..", 24 * 10**9), ("80G", 80 * 10**9),
        ("1e9", 10**9), ("1.5 TB", 1_500_000_000_000), ("80", 80),
    ],
)  # fmt: skip
def test_amounts_of_memory_are_decimal_unless_the_unit_says_otherwise(text: str, size: int) -> None:
    """https://github.com/dstackai/dstack/issues/226"""
    assert memory_bytes(text) == size


@pytest.mark.parametrize("text", ["", "lots", "8 bananas", "GB", "-8GB", "8GBs", "..8GB", "1e999GB"])
def test_an_amount_of_memory_that_cannot_be_read_is_never_ignored(text: str) -> None:
    """https://github.com/dstackai/dstack/issues/226"""
    with pytest.raises(ValueFault):
        memory_bytes(text)


PUBLISHED = {item["id"].rpartition("/")[2]: item for item in items("slurm")}
# What the corpus calls a granularity of its own is the job's `op`.
GRANULARITIES = {"selective_op": "selective"}


def toml(document: Mapping[str, Any], name: str = "") -> str:
    """A document as TOML, whose strings, numbers and lists are JSON's."""
    tables = {key: value for key, value in document.items() if isinstance(value, dict)}
    lines = [f"{key} = {json.dumps(value)}" for key, value in document.items() if key not in tables]
    below = [toml(value, f"{name}.{key}".strip(".")) for key, value in tables.items()]
    return "\n".join([*([f"[{name}]"] if name else []), *lines, *below]) + "\n"


def batch_script(item: Mapping[str, Any], style: str, arguments: list[list[str]]) -> ConfigSource:
    head = ["#!/bin/bash", *directives(item["sbatch"])]
    script = STYLES[style](head, launch_line(item["launcher"]), arguments)
    files = {name: yaml.safe_dump(content) for name, content in item.get("files", {}).items()}
    return ConfigSource(text=script.text, argv=list(script.argv), files=files)


def differences(item: Mapping[str, Any], imported: Imported) -> dict[str, tuple[Any, Any]]:
    found = facts(imported)
    wanted = {key: GRANULARITIES.get(value, value) if key == "granularity" else value for key, value in expected(item)}
    return {key: (value, found[key]) for key, value in wanted.items() if key in found and found[key] != value}


@pytest.mark.parametrize("style", ["arrays", "continued_command", "string", "evaluated", "chosen_branch"])
def test_three_files_together_yield_the_facts_of_a_published_recipe(style: str) -> None:
    item = PUBLISHED["handbook_zephyr_7b_sft"]

    imported = import_config(batch_script(item, style, [["--config", "config_full.yaml"]]))

    assert (imported.outcome, imported.format, missing(imported)) == ("ok", "accelerate", set())
    assert differences(item, imported) == {}
    assert {each["code"] for each in item["expected"]["diagnostics"]} <= codes(imported)


@pytest.mark.parametrize("style", ["arrays", "continued_command", "equals_signs", "evaluated"])
def test_a_published_script_asks_for_the_file_it_names_and_is_complete_with_it(style: str) -> None:
    item = PUBLISHED["aws_torchtitan_llama3_8b"]
    (content,) = [each["content"] for each in items("torchtitan_toml") if each["id"].endswith("/llama3_8b")]
    source = batch_script(item, style, item["script_args"])

    alone = import_config(source)
    together = import_config(source.model_copy(update={"files": {"llama3_8b.toml": toml(content)}}))

    assert (alone.outcome, missing(alone)) == ("incomplete", {"llama3_8b.toml"})
    assert {each["code"] for each in item["expected"]["diagnostics"]} <= codes(alone)
    assert (together.outcome, together.format) == ("ok", "torchtitan")
    assert differences(item, together) == {}


@pytest.mark.parametrize(
    ("directive", "device"),
    [
        ("--gres=gpu:h100:8", "h100-sxm-80gb"),
        ("--gpus-per-node=h200:8", "h200-sxm-141gb"),
        ("--gres=gpu:ours:8", None),
        ("--gres=gpu:8", None),
        ("--gpus-per-node=8", None),
    ],
)
def test_a_kind_of_gpu_hints_at_the_device(directive: str, device: str | None) -> None:
    head = f"#!/bin/bash\n#SBATCH --nodes=2 {directive}\n"
    found = read(f"{head}srun torchrun --nnodes 2 --nproc_per_node 8 {MEGATRON}\n")

    hints = [each.found for each in found.findings.diagnostics if each.code == "device_hint"]
    assert hints == ([device] if device else [])
