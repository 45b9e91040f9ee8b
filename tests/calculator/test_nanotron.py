"""nanotron: what its layers, its accumulation and its ZeRO stage 1 hold beside Megatron's."""

from typing import Any

import pytest

from service.calculator.activations.layer import layer_tensors
from service.calculator.estimate import StageEstimate, estimate
from service.calculator.ledger import Moment, Scope, alive_at
from service.calculator.model import Attention, LayerKind, Mlp
from service.calculator.recipe import Recipe
from tests.builders import H100, LLAMA_3_8B, layout, recipe

TOKENS, HIDDEN, WIDTH, HEADS = 2048, 4096, 14336, 32
MULTI_HEAD = LayerKind(Attention(HEADS, HEADS, HIDDEN // HEADS), Mlp(WIDTH, "swiglu"))
GROUPED = LLAMA_3_8B.kinds[0]
EMBEDDING = 128256 * HIDDEN
PARAMETERS = 8_030_261_248


def nanotron(**changes: Any) -> Recipe:
    return recipe(framework="nanotron", attention="flash", activation_fused=False, **changes)


def saved_bytes(kind: LayerKind, kept: Recipe, **changes: Any) -> int:
    tensors = layer_tensors(kind, LLAMA_3_8B, layout(LLAMA_3_8B, **changes), kept)
    return sum(int(each.tensor.bytes * each.copies) for each in tensors)


def stage(**changes: Any) -> StageEstimate:
    [found] = estimate(LLAMA_3_8B, layout(LLAMA_3_8B, **changes), nanotron(), H100).stages
    return found


def named(found: StageEstimate, name: str) -> int:
    return sum(int(line.bytes) for line in found.lines if line.tensor.name == name)


def test_queries_keep_the_tensor_of_all_three() -> None:
    """Keys and values are joined anew before they are turned, queries are turned in place: 6q + 4k for 2q + 4k."""
    expected = TOKENS * (8 * HIDDEN + (6 + 4 + 2) * HIDDEN + 8 * WIDTH + 4 * HEADS + 8)
    assert saved_bytes(MULTI_HEAD, nanotron()) == expected


def test_queries_are_copied_out_where_groups_are_fewer() -> None:
    key = 8 * HIDDEN // HEADS
    assert saved_bytes(GROUPED, nanotron()) == TOKENS * (12 * HIDDEN + 4 * key + 8 * WIDTH + 4 * HEADS + 8)


@pytest.mark.parametrize(("micro", "sequence", "copies"), [(1, 0, 0), (2, 0, 1), (2, 1, 0)])
def test_the_output_projection_folds_several_sequences(micro: int, sequence: int, copies: int) -> None:
    """torch's own product copies a transposed input; nanotron's asynchronous one does not."""
    split = {"tensor": 2, "sequence_parallel": sequence, "micro_batch": micro}
    whole = TOKENS * micro
    rows = 8 * HIDDEN + 8
    expected = whole * (rows if not sequence else rows // 2) + whole * (12 * HIDDEN + 8 * WIDTH + 4 * HEADS) // 2
    assert saved_bytes(MULTI_HEAD, nanotron(), **split) == expected + copies * whole * HIDDEN


def test_replicas_have_buckets_unless_they_share_states() -> None:
    assert named(stage(data=8), "gradients.buckets") == 2 * PARAMETERS
    assert named(stage(data=8, sharding_stage=1), "gradients.buckets") == 0


def test_shared_states_are_gathered_through_copies_of_all_weights() -> None:
    found = stage(data=8, sharding_stage=1)
    step = {line.tensor.name: int(line.bytes) for line in alive_at(found.lines, Moment.OPTIMIZER_STEP)}
    assert step["weights.gathered_share"] == 2 * 2 * PARAMETERS
    assert step["weights.own_share"] == 2 * PARAMETERS // 8
    [block] = [line for line in found.lines if line.tensor.name == "allocator.gathered_weights"]
    assert (block.scope, int(block.bytes)) == (Scope.RESERVED, 2 * PARAMETERS)
    assert Moment.OPTIMIZER_STEP not in block.alive


def test_sequence_parallelism_keeps_two_buffers() -> None:
    assert named(stage(tensor=4, sequence_parallel=1), "nanotron.memory_buffer") == 2 * 2 * TOKENS * HIDDEN
    assert named(stage(tensor=4), "nanotron.memory_buffer") == 0


@pytest.mark.parametrize(
    ("split", "layers"), [({"tensor": 4}, 32), ({"tensor": 1}, 0), ({"tensor": 4, "pipeline": 2}, 0)]
)
def test_what_collectives_read_waits_for_their_stream(split: dict[str, int], layers: int) -> None:
    """Two outputs of all tokens a layer, under tensor parallelism alone: a pipeline's messages make the host wait."""
    lines = estimate(LLAMA_3_8B, layout(LLAMA_3_8B, **split), nanotron(layers_ahead=32), H100).stages[0].lines
    waiting = [line for line in lines if line.tensor.name == "allocator.awaited"]
    assert all(line.scope is Scope.RESERVED for line in waiting)
    assert sum(int(line.bytes) for line in waiting) == layers * 2 * 2 * TOKENS * HIDDEN


def test_the_host_runs_ahead_as_far_as_its_queue() -> None:
    found = estimate(LLAMA_3_8B, layout(LLAMA_3_8B, tensor=4), nanotron(layers_ahead=20), H100).stages[0]
    assert named(found, "allocator.awaited") == 20 * 2 * 2 * TOKENS * HIDDEN


def test_nothing_of_transformer_engine_is_there() -> None:
    names = {line.tensor.name for line in stage().lines}
    assert not names & {"gradients.stand_in", "workspace.gemm"}
