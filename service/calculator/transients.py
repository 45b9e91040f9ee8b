"""Tensors that exist only while a layer's backward runs or a stage sends and receives (sections 3.7 and 5)."""

from service.calculator.head import residual
from service.calculator.layout import Layout
from service.calculator.ledger import WITH_ACTIVATIONS, Category, Line, Moment, Tensor
from service.calculator.model import LayerKind, Model
from service.calculator.parameters import layer_parameters
from service.calculator.recipe import Recipe
from service.calculator.units import Int, ceil_div, maximum, where


def backward_lines(
    kind: LayerKind, model: Model, layout: Layout, recipe: Recipe, alive: tuple[Moment, ...]
) -> list[Line]:
    """Gradients that a layer's backward holds beside the saved tensors, during the given moments."""
    sequence, batch = layout.local_sequence, layout.micro_batch
    up = (sequence, batch, kind.mlp.branches * ceil_div(kind.mlp.width, layout.tensor))
    lines = [
        _gradient("backward.output_gradient", residual(model, layout), recipe, ("sequence", "context"), alive),
        _gradient("backward.mlp_gradient", up, recipe, ("tensor", "context"), alive),
        _gathered("backward.gathered_input", model, layout, recipe, alive),
    ]
    if not recipe.gradient_accumulation_fusion:
        lines.append(_weight_gradient(kind, model, layout, recipe, alive))
    return lines


def _gradient(
    name: str, shape: tuple[Int, ...], recipe: Recipe, sharded_by: tuple[str, ...], alive: tuple[Moment, ...]
) -> Line:
    tensor = Tensor(name, Category.ACTIVATIONS, shape, recipe.compute, sharded_by, "memory_model.md 3.7")
    return Line(tensor, 1, alive)


def _gathered(name: str, model: Model, layout: Layout, recipe: Recipe, alive: tuple[Moment, ...]) -> Line:
    """The norm's output gathered over the tensor group again, with sequence parallelism."""
    shape = (layout.local_sequence, layout.micro_batch, model.hidden_size)
    tensor = Tensor(name, Category.COMMUNICATION, shape, recipe.compute, ("context",), "memory_model.md 3.6")
    return Line(tensor, where(layout.sequence_parallel, where(layout.tensor - 1, 1, 0), 0), alive)


def _weight_gradient(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe, alive: tuple[Moment, ...]) -> Line:
    """The largest weight's gradient before it is added to the accumulation buffer."""
    largest: Int = 0
    for each in layer_parameters(kind, model, layout.tensor):
        largest = maximum(largest, each.elements)
    return _gradient("backward.weight_gradient", (largest,), recipe, ("tensor",), alive)


def pipeline_lines(model: Model, layout: Layout, recipe: Recipe, in_flight: Int) -> list[Line]:
    """Boundary tensors in transit: one received input or sent output, one output gradient (section 5).

    Without deallocation, a stage also keeps the output of every micro-batch in flight.
    """
    if layout.pipeline == 1:
        return []
    shape = residual(model, layout)
    source = "memory_model.md 5; megatron/core/pipeline_parallel/schedules.py"
    transit = Tensor(
        "pipeline.boundary", Category.COMMUNICATION, shape, recipe.compute, ("sequence", "context"), source
    )
    lines = [Line(transit, 2, WITH_ACTIVATIONS)]
    if not recipe.deallocate_pipeline_outputs:
        output = Tensor("pipeline.output", Category.ACTIVATIONS, shape, recipe.compute, ("sequence", "context"), source)
        lines.append(Line(output, in_flight, WITH_ACTIVATIONS))
    return lines
