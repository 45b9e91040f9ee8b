"""What people reported about launches, sizes and layouts: each report's right answer, from an import."""

import pytest

from service.catalog.devices import find_device
from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.job.resolve import resolve
from service.job.schema import Job, ModelSection
from service.usecases.imports import import_config
from service.usecases.searches import Question, prepare, run
from service.usecases.spaces import Cluster


def read(text: str, **source: object) -> Imported:
    return import_config(ConfigSource.model_validate({"text": text, **source}))


def errors(imported: Imported) -> dict[str, str]:
    return {each.code: each.message for each in imported.findings.errors}


LLAMA_7B = (
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 "
    "--ffn-hidden-size 11008 --swiglu --seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 2 "
    "--global-batch-size 128 --use-distributed-optimizer --use-flash-attn --sequence-parallel --bf16 "
    "--normalization RMSNorm --disable-bias-linear --position-embedding-type rope "
    "--untie-embeddings-and-output-weights"
)
DENSE = (
    "pretrain_gpt.py --num-attention-heads 64 --hidden-size 8192 --ffn-hidden-size 28672 --seq-length 4096 --bf16 "
    "--max-position-embeddings 4096 --micro-batch-size 1 --vocab-size 32000 --group-query-attention"
)


def test_a_7b_launch_lacks_only_its_vocabulary() -> None:
    """https://github.com/NVIDIA/Megatron-LM/issues/597"""
    imported = read(LLAMA_7B)
    given = read(LLAMA_7B, model=ModelSection(vocab_size=32000))

    assert [each.fact for each in imported.findings.missing] == ["vocab_size"]
    assert "sequence-parallel has no effect at tp 1" in [each.message for each in imported.findings.diagnostics]
    assert given.job is not None
    resolved = resolve(given.job)
    assert (resolved.job.parallelism.data, resolved.job.batch.accumulation) == (8, 8)


def test_layers_that_an_interleaved_split_would_drop_are_refused() -> None:
    """https://github.com/NVIDIA/Megatron-LM/issues/468"""
    split = "--num-layers 80 --pipeline-model-parallel-size 16 --num-layers-per-virtual-pipeline-stage 2"
    imported = read(f"torchrun --nnodes 16 --nproc_per_node 8 {DENSE} --num-query-groups 8 {split}")

    assert "vpp_remainder" in errors(imported)
    assert all(number in errors(imported)["vpp_remainder"] for number in ("80", "16", "5", "2"))


def test_interleaving_with_too_few_micro_batches_is_refused_with_the_smallest_batch_that_will_do() -> None:
    """https://github.com/NVIDIA-NeMo/Speech/issues/14288"""
    layout = "--num-layers 24 --pipeline-model-parallel-size 6 --num-virtual-stages-per-pipeline-rank 2"
    launch = "torchrun --nnodes 6 --nproc_per_node 8"
    imported = read(f"{launch} {DENSE} --num-query-groups 8 {layout} --global-batch-size 24")

    (error,) = [each for each in imported.findings.errors if each.code == "micro_batches_too_few"]
    assert "3" in error.message
    assert any("48" in fix for fix in error.fixes)


@pytest.mark.parametrize("groups", [2, 4, 8])
def test_megatron_takes_fewer_groups_than_tensor_ranks_when_they_divide_them(groups: int) -> None:
    """https://github.com/pytorch/torchtitan/issues/2574"""
    layout = "--num-layers 8 --tensor-model-parallel-size 4 --global-batch-size 8"
    imported = read(f"torchrun --nproc_per_node 8 {DENSE} --num-query-groups {groups} {layout}")

    assert imported.outcome == "ok"


def test_an_offloaded_optimizer_is_read_as_one() -> None:
    """https://github.com/THUDM/slime/issues/280"""
    offload = "--optimizer-cpu-offload --use-precision-aware-optimizer --use-distributed-optimizer"
    imported = read(f"torchrun --nproc_per_node 8 {DENSE} --num-query-groups 8 --num-layers 8 {offload}")

    assert imported.job is not None
    assert imported.job.optimizer.offload == "cpu"


TITAN = "[model]\nname = 'llama3'\nflavor = '8B'\n[training]\nseq_len = {length}\nlocal_batch_size = 1\n[parallelism]\n"
TITAN_NOW = (
    "torchrun --nproc_per_node 8 -m torchtitan.train --module llama3 --config llama3_8b "
    "--training.num_tokens_per_microbatch_per_dp_rank {length} --training.max_context_length {length} "
    "--parallelism.tensor_parallel_degree {tensor} --parallelism.context_parallel_degree {context}"
)


def titan(length: int, tensor: int, context: int = 1) -> str:
    degrees = f"tensor_parallel_degree = {tensor}\ncontext_parallel_degree = {context}\n"
    return TITAN.format(length=length) + degrees


@pytest.mark.parametrize(
    ("text", "divisor", "lengths"),
    [
        (titan(4098, 4), "8", ("4096", "4104")),
        (TITAN_NOW.format(length=4098, tensor=4, context=1), "4", ("4096", "4100")),
    ],
)
def test_a_length_that_ranks_cannot_share_is_refused_by_the_rule_of_its_generation(
    text: str, divisor: str, lengths: tuple[str, str]
) -> None:
    """https://github.com/pytorch/torchtitan/issues/1306"""
    (error,) = [each for each in read(text, world_size=8).findings.errors if each.code == "seq_divisor"]

    assert divisor in error.message
    assert "torchtitan" in f"{error.message} {error.rule}"
    assert all(any(each in fix for fix in error.fixes) for each in lengths)


def test_a_length_that_every_divisor_shares_is_accepted() -> None:
    """https://github.com/pytorch/torchtitan/issues/1306"""
    assert read(titan(8192, 8, 4), world_size=32).outcome == "ok"


def test_a_batch_that_seven_ranks_cannot_share_names_its_factors_and_the_nearest_that_they_can() -> None:
    """https://github.com/OpenRLHF/OpenRLHF/issues/346"""
    text = (
        '{"train_batch_size": 256, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 18, '
        '"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}}'
    )
    (error,) = [each for each in read(text, world_size=7).findings.errors if each.code == "batch_triad"]

    assert all(each in error.message for each in ("256", "2", "18", "7", "252"))
    assert any("252" in fix for fix in error.fixes)
    assert any("266" in fix for fix in error.fixes)


def test_a_command_without_a_launcher_runs_one_process_and_says_so() -> None:
    """https://github.com/OpenRLHF/OpenRLHF/issues/346: 8 != 2*1*1 on a node where 4 ranks were expected."""
    text = '{"train_batch_size": 8, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 1}'
    imported = read(text, argv=["python", "train.py", "--deepspeed", "ds.json"])

    (error,) = [each for each in imported.findings.errors if each.code == "batch_triad"]
    assert "no launcher" in error.message


def test_the_states_of_a_14b_trainer_leave_what_an_80_gb_gpu_really_has() -> None:
    """https://github.com/skypilot-org/skypilot/pull/10269: 14e9 x 16 / 4 bytes of states; 79.2 GiB, not 80."""
    usable = find_device("h100-sxm-80gb").usable_bytes
    states = 14 * 10**9 * 16 // 4

    assert round(states / 2**30, 2) == 52.15
    assert 79.0 * 2**30 < usable < 79.3 * 2**30


def test_a_plan_says_the_longest_sequence_that_still_fits() -> None:
    """https://github.com/skypilot-org/skypilot/pull/10269: not just yes or no for the nominal length."""
    job = Job.model_validate(
        {
            "model": {"preset": "qwen3-14b"},
            "framework": {"name": "megatron-core"},
            "parallelism": {"tensor": 4, "sequence": True, "pipeline": 1, "context": 1, "data": 1},
            "world_size": 4,
            "batch": {"micro": 1, "global": 4, "sequence_length": 8192},
        }
    )
    answer = run(prepare(Question(job, Cluster("h100-sxm-80gb", 4)), 10**6))

    assert answer.longest_sequence is not None
    assert answer.longest_sequence > 8192
