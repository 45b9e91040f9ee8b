"""What people reported about launches, sizes and layouts: each report's right answer, from an import."""

import pytest

from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.job.resolve import resolve
from service.job.schema import ModelSection
from service.usecases.imports import import_config


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
