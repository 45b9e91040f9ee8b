"""Gradients that grow during the backward and go with the step, as torch's own are (memory_model.md, section 7).

With one micro-batch a step there are none before its backward; with more, those of the earlier ones are always there.
"""

from collections.abc import Sequence

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, BACKWARD, GROWN, Category, Line, Moment, Tensor
from service.calculator.states.stage import (
    EMBEDDING,
    HEAD,
    StageParameters,
    largest_parameter,
    largest_unit,
    parameter_count,
)
from service.calculator.units import Int, where

AFTER_THE_HEAD = (Moment.HEAD_BACKWARD, Moment.LAYER_BACKWARD, Moment.RECOMPUTE, *GROWN)
AT_THE_END = (Moment.EMBEDDING_BACKWARD, Moment.OPTIMIZER_STEP)
SOURCE = "memory_model.md 7"


def in_a_layer(*, last: bool) -> tuple[Moment, ...]:
    """Moments of a layer's backward before the last; on the last stage the first backward is the loss's."""
    layer = (Moment.LAYER_BACKWARD, Moment.RECOMPUTE)
    return layer if last else (Moment.FIRST_BACKWARD, *layer)


def several_micro_batches(layout: Layout) -> Int:
    """1 where gradients of earlier micro-batches are kept, 0 where a step has one."""
    return where(layout.micro_batches - 1, 1, 0)


def growing(tensor: Tensor, layout: Layout) -> list[Line]:
    """Gradients of a whole stage: at every moment, or from the end of the backward to the step."""
    several = several_micro_batches(layout)
    return [Line(tensor, several, ALWAYS), Line(tensor, 1 - several, GROWN)]


def whole_gradients(parameters: Sequence[StageParameters], dtype: str, kept: Int, *, last: bool) -> list[Line]:
    """Unsharded gradients of a stage: the head's come first, then a layer's, then all.

    Where gradients are `kept` (1) from earlier micro-batches or in a permanent buffer, the largest new one is there
    too until it has been added. On the `last` stage the first backward is the loss's.
    """
    lines = []
    for each in sorted({parameter.dtype or dtype for parameter in parameters}):
        typed = [parameter for parameter in parameters if (parameter.dtype or dtype) == each]
        head = [parameter for parameter in typed if parameter.unit == HEAD]
        layers = [parameter for parameter in typed if parameter.unit not in {HEAD, EMBEDDING}]
        ends = [parameter for parameter in typed if parameter.unit == EMBEDDING]
        for name, elements, count, alive in (
            ("kept", parameter_count(typed), kept, ALWAYS),
            ("head", parameter_count(head), 1 - kept, AFTER_THE_HEAD),
            ("layer", largest_unit(layers), 1 - kept, in_a_layer(last=last)),
            ("layers", parameter_count(layers), 1 - kept, GROWN),
            ("embedding", parameter_count(ends), 1 - kept, AT_THE_END),
            ("arriving", largest_parameter(ends), kept, (Moment.EMBEDDING_BACKWARD,)),
            ("arriving", largest_parameter(head), kept, (Moment.HEAD_BACKWARD,)),
            ("arriving", largest_parameter(layers), kept, (*in_a_layer(last=last), Moment.LAST_BACKWARD)),
        ):
            lines.append(Line(_tensor(f"gradients.{name}", elements, each), count, alive))
    return lines


def passing_gradients(parameters: Sequence[StageParameters], dtype: str) -> list[Line]:
    """The one gradient that exists at a time when the optimizer steps inside the backward."""
    return [Line(_tensor("gradients.arriving", largest_parameter(parameters), dtype), 1, BACKWARD)]


def _tensor(name: str, elements: Int, dtype: str) -> Tensor:
    return Tensor(name, Category.GRADIENTS, (elements,), dtype, ("tensor", "pipeline"), SOURCE)
