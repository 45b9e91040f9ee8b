"""Whole replicas: one GPU, or torch's DistributedDataParallel (memory_model.md, section 2.4).

Weights, gradients and moments follow the weights' own type; there is no master copy unless the recipe says so. DDP
reduces gradients in buckets that together are as large as the gradients: the gradients themselves when they are views
of the buckets, a second copy when not.
"""

from collections.abc import Sequence

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, FROM_START, Category, Line, Moment, Tensor
from service.calculator.recipe import Recipe
from service.calculator.states.gradients import passing_gradients, several_micro_batches, whole_gradients
from service.calculator.states.optimizers import optimizer_lines, optimizer_states, owned_whole
from service.calculator.states.stage import StageParameters, largest_parameter, parameter_count, trained
from service.calculator.states.weights import is_quantised, weight_lines
from service.calculator.units import Int, maximum, where

SOURCE = "memory_model.md 2.4"
REPLICA = ("tensor", "pipeline")


def ddp_lines(parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe, *, last: bool) -> list[Line]:
    """Everything that a replica keeps beside activations."""
    learned = trained(parameters)
    on_device = 100 - recipe.optimizer.offload_percent
    lines = weight_lines(parameters, recipe)
    if recipe.optimizer.in_backward:
        lines += passing_gradients(learned, recipe.gradients)
    else:
        replicated = where(layout.data * layout.context - 1, 1, 0)
        viewed = replicated if recipe.sharding.bucket_view else 0
        kept = maximum(several_micro_batches(layout), viewed)
        lines += whole_gradients(learned, recipe.gradients, kept, last=last)
        lines.append(_buckets(learned, recipe, replicated - viewed))
    if recipe.master is not None:
        master = Tensor(
            "optimizer.master", Category.OPTIMIZER, (parameter_count(learned),), recipe.master, REPLICA, SOURCE
        )
        lines.append(Line(master, 1, FROM_START))
    lines += optimizer_lines(owned_whole(learned, recipe), recipe, REPLICA, on_device)
    return lines + _dequantised(parameters, recipe)


def ddp_host_lines(parameters: Sequence[StageParameters], recipe: Recipe) -> list[Line]:
    """Optimizer states in host memory (bitsandbytes' paged states, or a CPU optimizer)."""
    percent = recipe.optimizer.offload_percent
    if not percent:
        return []
    return [
        Line(
            Tensor(f"host.{name}", Category.OPTIMIZER, (elements * percent // 100,), dtype, REPLICA, SOURCE), 1, ALWAYS
        )
        for name, elements, dtype in optimizer_states(owned_whole(trained(parameters), recipe), recipe)
    ]


def _buckets(parameters: Sequence[StageParameters], recipe: Recipe, count: Int) -> Line:
    """Buckets beside the gradients: torch's reducer keeps them from the first backward on (torch csrc reducer.cpp)."""
    elements = parameter_count(parameters)
    tensor = Tensor("gradients.buckets", Category.COMMUNICATION, (elements,), recipe.gradients, REPLICA, SOURCE)
    return Line(tensor, count, ALWAYS)


def _dequantised(parameters: Sequence[StageParameters], recipe: Recipe) -> list[Line]:
    """The one quantised weight that is in use, in the compute type (memory_model.md 2.5)."""
    adapters = recipe.adapters
    if adapters is None or adapters.quantization is None:
        return []
    size = largest_parameter([each for each in parameters if is_quantised(each, adapters)])
    tensor = Tensor("weights.dequantised", Category.WEIGHTS, (size,), recipe.compute, (), "memory_model.md 2.5 QLoRA")
    moments = tuple(each for each in ALWAYS if each is not Moment.OPTIMIZER_STEP)
    return [Line(tensor, 1, moments)]
