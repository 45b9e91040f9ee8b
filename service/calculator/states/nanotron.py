"""nanotron: fp32 accumulation as Megatron's, but 16-bit gradients and DDP's buckets beside it.

Every parameter's 16-bit gradient exists until the backward is over and it has been added to the fp32 buffer; replicas
reduce through DistributedDataParallel, whose buckets are no views of the gradients. Source: huggingface/nanotron
@ 2411b022, optim/gradient_accumulator.py (FP32GradientAccumulator) and trainer.py.
"""

from collections.abc import Sequence

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, Category, Line, Moment, Tensor
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.stage import Stage
from service.calculator.states.gradients import whole_gradients
from service.calculator.states.megatron import megatron_lines
from service.calculator.states.stage import StageParameters, parameter_count
from service.calculator.units import where

SOURCE = "huggingface/nanotron @ 2411b022 optim/gradient_accumulator.py"


def nanotron_lines(
    parameters: Sequence[StageParameters], stage: Stage, model: Model, layout: Layout, recipe: Recipe
) -> list[Line]:
    """Everything that a stage keeps beside activations."""
    kept = [line for line in megatron_lines(parameters, stage, model, layout, recipe) if line.alive != INITIALIZATION]
    passing = whole_gradients(parameters, recipe.compute, 0, last=stage.head is not None)
    replicas = where(layout.data * layout.context - 1, 1, 0)
    elements = parameter_count(parameters)
    buckets = Tensor("gradients.buckets", Category.COMMUNICATION, (elements,), recipe.compute, ("tensor",), SOURCE)
    return [*kept, *(_until_added(line) for line in passing), Line(buckets, replicas, ALWAYS)]


INITIALIZATION = (Moment.INITIALIZATION,)


def _until_added(line: Line) -> Line:
    alive = tuple(each for each in line.alive if each is not Moment.OPTIMIZER_STEP)
    return Line(line.tensor, line.count, alive)
