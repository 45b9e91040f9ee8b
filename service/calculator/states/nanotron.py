"""nanotron: fp32 accumulation as Megatron's, but 16-bit gradients beside it, and DDP or its own ZeRO stage 1.

Every parameter's 16-bit gradient exists until the backward is over and it has been added to the fp32 buffer. Replicas
that share no states reduce through DistributedDataParallel, whose buckets are no views of the gradients; those that do
sum the fp32 buffer in place, and gather the updated weights through flat copies. Source: huggingface/nanotron
@ 67c5ebb6 and @ 2411b022, optim/gradient_accumulator.py (FP32GradientAccumulator), optim/zero.py, distributed.py and
trainer.py.
"""

from collections.abc import Sequence

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, Category, Line, Moment, Scope, Tensor
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.stage import Stage
from service.calculator.states.gradients import whole_gradients
from service.calculator.states.megatron import megatron_lines
from service.calculator.states.stage import StageParameters, parameter_count
from service.calculator.units import Int, ceil_div, where

SOURCE = "huggingface/nanotron @ 2411b022 optim/gradient_accumulator.py"
GATHER = (
    "huggingface/nanotron @ 2411b022 optim/zero.py, distributed.py all_gather_coalesced; torch ProcessGroupNCCL.cpp"
)
STEP = (Moment.OPTIMIZER_STEP,)


def nanotron_lines(
    parameters: Sequence[StageParameters], stage: Stage, model: Model, layout: Layout, recipe: Recipe
) -> list[Line]:
    """Everything that a stage keeps beside activations."""
    kept = [line for line in megatron_lines(parameters, stage, model, layout, recipe) if line.alive != INITIALIZATION]
    passing = whole_gradients(parameters, recipe.compute, 0, last=stage.head is not None)
    sharded = where(layout.shards - 1, 1, 0)
    replicas = where(layout.data * layout.context - 1, 1 - sharded, 0)
    elements = parameter_count(parameters)
    buckets = Tensor("gradients.buckets", Category.COMMUNICATION, (elements,), recipe.compute, ("tensor",), SOURCE)
    return [
        *kept,
        *(_until_added(line) for line in passing),
        Line(buckets, replicas, ALWAYS),
        *_gathering(elements, sharded, layout, recipe),
    ]


INITIALIZATION = (Moment.INITIALIZATION,)


def _until_added(line: Line) -> Line:
    alive = tuple(each for each in line.alive if each is not Moment.OPTIMIZER_STEP)
    return Line(line.tensor, line.count, alive)


def _gathering(elements: Int, sharded: Int, layout: Layout, recipe: Recipe) -> list[Line]:
    """Copies of the weights when they are gathered: this rank's share, every rank's, and NCCL's flat one of all.

    The flat one is a single block as long as all weights. Blocks that activations have left are shorter, and the
    allocator joins none across its segments, so that it stays reserved beside them (torch CUDACachingAllocator.cpp).
    """
    share = Tensor("weights.gathered_share", Category.WEIGHTS, (elements,), recipe.parameters, ("tensor",), GATHER)
    own = Tensor(
        "weights.own_share", Category.WEIGHTS, (ceil_div(elements, layout.shards),), recipe.parameters, (), GATHER
    )
    block = Tensor(
        "allocator.gathered_weights",
        Category.ALLOCATOR,
        (elements,),
        recipe.parameters,
        ("tensor",),
        f"modelled: {GATHER}",
    )
    otherwise = tuple(each for each in ALWAYS if each not in STEP)
    return [
        Line(own, sharded, STEP),
        Line(share, 2 * sharded, STEP),
        Line(block, sharded, otherwise, Scope.RESERVED, modelled=True),
    ]
