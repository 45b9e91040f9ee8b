"""The parameters that one pipeline stage holds on one GPU, before data parallelism shards anything."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.calculator.layout import Layout
from service.calculator.model import Model
from service.calculator.parameters import (
    Parameter,
    embedding_parameters,
    head_parameters,
    layer_parameters,
    padded_vocabulary,
)
from service.calculator.recipe import Recipe
from service.calculator.units import Int


@dataclass(frozen=True, slots=True)
class StageParameters:
    """A parameter and how often it occurs on a stage."""

    parameter: Parameter
    count: int

    @property
    def elements(self) -> Int:
        """Elements of all its occurrences."""
        return self.parameter.elements * self.parameter.copies * self.count


def stage_parameters(model: Model, layout: Layout, recipe: Recipe, stage: int) -> list[StageParameters]:
    """Every parameter of a pipeline rank, layers of one kind counted together.

    With a tied head and more than one stage, the last stage holds its own copy of the embedding.
    """
    vocabulary = padded_vocabulary(model.vocab_size, layout.tensor, recipe.vocabulary_multiple)
    first, last = stage == 0, stage == layout.pipeline - 1
    found: list[StageParameters] = []
    if first:
        found += [StageParameters(each, 1) for each in embedding_parameters(model, layout.tensor, vocabulary)]
    for kind, count in sorted(model.kinds_of(layout.placement.layers_of(stage)).items()):
        layers = layer_parameters(model.kinds[kind], model, layout.tensor)
        found += [StageParameters(each, count) for each in layers]
    if last:
        ends = head_parameters(model, layout.tensor, vocabulary, holds_embedding=first)
        found += [StageParameters(each, 1) for each in ends]
    return found


def parameter_count(parameters: Sequence[StageParameters]) -> Int:
    """Elements of all parameters of a stage, without padding."""
    total: Int = 0
    for each in parameters:
        total = total + each.elements
    return total
