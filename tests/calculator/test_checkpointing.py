"""What checkpointing stores, and what comes back for the backward (memory_model.md, section 6)."""

from service.calculator.activations.layer import layer_tensors
from service.calculator.checkpointing import recompute_lines, segment_length, stored_lines
from service.calculator.layout import Checkpointing
from service.calculator.ledger import Moment
from tests.builders import LLAMA_3_8B, layout, recipe

INPUT_BYTES = 2 * 2048 * 4096


def _bytes(checkpointing: Checkpointing, layers: list[int], in_flight: list[int]) -> tuple[int, int]:
    """Stored and recomputed bytes."""
    spread = layout(LLAMA_3_8B, checkpointing=checkpointing)
    rows = layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, spread, recipe())
    stored = sum(int(line.bytes) for line in stored_lines(rows, spread, layers, in_flight))
    recomputed = sum(int(line.bytes) for line in recompute_lines(rows, spread, layers))
    return stored, recomputed


LAYER_BYTES, _ = _bytes(Checkpointing(), [1], [1])


def test_uniform_stores_one_input_a_segment_and_recomputes_one_segment() -> None:
    """Peak = (L/k)·I + k·A - I, measured for segments of 1 to 12 of 12 layers."""
    for k in (1, 2, 3, 4, 6, 12):
        stored, recomputed = _bytes(Checkpointing("full", "uniform", k), [12], [1])
        assert stored == 12 // k * INPUT_BYTES
        assert recomputed == k * LAYER_BYTES - INPUT_BYTES


def test_a_last_shorter_segment_is_stored_too() -> None:
    assert _bytes(Checkpointing("full", "uniform", 5), [12], [1])[0] == 3 * INPUT_BYTES


def test_block_checkpoints_the_first_layers_of_each_chunk() -> None:
    stored, recomputed = _bytes(Checkpointing("full", "block", 2), [4, 4], [3, 1])
    assert stored == 3 * (2 * INPUT_BYTES + 2 * LAYER_BYTES) + 1 * (2 * INPUT_BYTES + 2 * LAYER_BYTES)
    assert recomputed == LAYER_BYTES - INPUT_BYTES


def test_block_of_no_layers_is_no_checkpointing() -> None:
    assert _bytes(Checkpointing("full", "block", 0), [4], [2]) == (2 * 4 * LAYER_BYTES, 0)


def test_the_recomputed_segment_counts_once_however_many_micro_batches_are_in_flight() -> None:
    one = _bytes(Checkpointing("full", "uniform", 1), [8], [1])[1]
    assert _bytes(Checkpointing("full", "uniform", 1), [8], [16])[1] == one


def test_selective_brings_back_one_layers_dropped_tensors() -> None:
    spread = layout(LLAMA_3_8B, checkpointing=Checkpointing("selective", modules=("mlp",)))
    rows = layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, spread, recipe())
    lines = recompute_lines(rows, spread, [8])
    assert {line.tensor.name for line in lines} == {
        "recompute.mlp.norm.statistics",
        "recompute.mlp.norm.output",
        "recompute.mlp.up.output",
        "recompute.mlp.activation",
    }
    assert {line.alive for line in lines} == {(Moment.RECOMPUTE,)}


def test_a_norm_fused_into_its_projection_is_not_recomputed_by_itself() -> None:
    """megatron/core/transformer/transformer_layer.py leaves an identity norm alone."""
    spread = layout(LLAMA_3_8B, checkpointing=Checkpointing("selective", modules=("layernorm",)))
    fused = layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, spread, recipe())
    separate = layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, spread, recipe(transformer_impl="local"))
    assert recompute_lines(fused, spread, [1]) == []
    assert sum(int(line.bytes) for line in recompute_lines(separate, spread, [1])) == 2 * (INPUT_BYTES + 4 * 2048)


def test_distributed_inputs_are_split_over_the_tensor_group() -> None:
    whole = Checkpointing("full", "uniform", 1)
    shared = Checkpointing("full", "uniform", 1, distribute_saved=True)
    rows = layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, layout(LLAMA_3_8B, tensor=8), recipe())

    def stored(checkpointing: Checkpointing) -> int:
        spread = layout(LLAMA_3_8B, tensor=8, checkpointing=checkpointing)
        return sum(int(line.bytes) for line in stored_lines(rows, spread, [4], [2]))

    assert stored(shared) == stored(whole) // 8


def test_a_segment_is_no_longer_than_the_chunk() -> None:
    assert segment_length(Checkpointing("full", "uniform", 100), 7) == 7
