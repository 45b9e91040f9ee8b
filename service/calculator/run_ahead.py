"""Blocks that the caching allocator cannot hand out again, because a collective's stream is not known to be done.

torch before 2.2 records every collective's stream on the tensors that it reads (`recordStream`): a block that is freed
is handed out again when the host sees that the stream has passed. The host runs ahead of the GPU, so what row-wise
projections hand to their collectives, two tensors of all tokens a layer, piles up, as far as the launch queue lets the
host run: torchtitan says as much of its tensor parallelism (PR 737, issue 735; pytorch PR 76861). In a pipeline each
message makes the host wait, because its shape is copied from pageable memory; the sweep shows no such blocks there.
"""

from service.calculator.layout import Layout
from service.calculator.ledger import FROM_START, Category, Line, Scope, Tensor
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.stage import Stage
from service.calculator.units import where

PER_LAYER = 2
"""Outputs of row-wise projections: attention's and the MLP's."""

SOURCE = (
    "huggingface/nanotron @ 67c5ebb6 tensor_parallel/distributed_differentiable_primitives.py, "
    "pipeline_parallel/p2p.py; torch 2.1 ProcessGroupNCCL.cpp, CUDACachingAllocator.cpp"
)


def awaited_lines(stage: Stage, model: Model, layout: Layout, recipe: Recipe) -> list[Line]:
    """What a stage's forward leaves waiting for the stream of tensor parallelism's collectives."""
    if not recipe.layers_ahead or layout.pipeline > 1:
        return []
    layers = min(sum(stage.kinds.values()), recipe.layers_ahead)
    count = where(layout.tensor - 1, PER_LAYER * layers, 0)
    shape = (layout.local_sequence, layout.micro_batch, model.hidden_size)
    tensor = Tensor("allocator.awaited", Category.ALLOCATOR, shape, recipe.compute, (), f"modelled: {SOURCE}")
    return [Line(tensor, count, FROM_START, Scope.RESERVED, modelled=True)]
