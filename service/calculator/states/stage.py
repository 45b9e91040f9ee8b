"""The parameters that one pipeline stage holds on one GPU, before data parallelism shards anything."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from service.calculator.layout import Layout
from service.calculator.model import Model
from service.calculator.parameters import (
    ExpertGrid,
    Parameter,
    embedding_parameters,
    head_parameters,
    layer_parameters,
    padded_vocabulary,
    prediction_parameters,
)
from service.calculator.recipe import Recipe
from service.calculator.stage import Stage
from service.calculator.units import Int, maximum

EMBEDDING = "embedding"
HEAD = "head"
PREDICTION = "prediction"


@dataclass(frozen=True, slots=True)
class StageParameters:
    """A parameter and how often it occurs on a stage.

    `unit` is what is gathered together: the embedding, the head, or a kind of layer, of which there are `count`.
    A frozen parameter has neither gradient nor optimizer state; `dtype` overrides the recipe's type of weights.
    """

    parameter: Parameter
    count: int
    unit: str
    trained: bool = True
    dtype: str | None = None

    @property
    def elements(self) -> Int:
        """Elements of all its occurrences."""
        return self.unit_elements * self.count

    @property
    def unit_elements(self) -> Int:
        """Elements of its copies in one unit."""
        return self.parameter.elements * self.parameter.copies

    @property
    def is_matrix(self) -> bool:
        """Whether it is a projection, an embedding or a head; norms and biases are vectors."""
        return len(self.parameter.shape) > 1 and "norm" not in self.parameter.name

    @property
    def is_adapter(self) -> bool:
        """Whether it is a factor of a low-rank adapter, beside the model's own parameters."""
        return self.parameter.name.startswith("adapter.")

    @property
    def is_linear(self) -> bool:
        """Whether it is the weight of a matrix product inside a layer."""
        return self.is_matrix and self.unit not in {EMBEDDING, HEAD}


def stage_parameters(stage: Stage, model: Model, layout: Layout, recipe: Recipe) -> list[StageParameters]:
    """Every parameter of a pipeline rank, layers of one kind counted together.

    With a tied head and more than one stage, the last stage holds its own copy of the embedding, and so does the stage
    of multi-token prediction.
    """
    vocabulary = padded_vocabulary(model.vocab_size, layout.tensor, recipe.vocabulary_multiple)
    grid = ExpertGrid(layout.expert, layout.expert_tensor)
    first = stage.embedding is not None
    found: list[StageParameters] = []
    if first:
        found += [
            StageParameters(each, 1, EMBEDDING) for each in embedding_parameters(model, layout.tensor, vocabulary)
        ]
    for kind, count in stage.kinds.items():
        layers = layer_parameters(model.kinds[kind], model, layout.tensor, grid)
        found += [StageParameters(each, count, layer_unit(kind)) for each in layers]
    if model.prediction is not None and stage.predicts:
        depths = prediction_parameters(model.prediction, model, layout.tensor, grid)
        found += [StageParameters(each, model.prediction.copies, PREDICTION) for each in depths]
        if not first:
            found.append(StageParameters(embedding_parameters(model, layout.tensor, vocabulary)[0], 1, EMBEDDING))
    if stage.head is not None:
        ends = head_parameters(model, layout.tensor, vocabulary, holds_embedding=first)
        found += [StageParameters(each, 1, HEAD) for each in ends]
    return found


def layer_unit(kind: int) -> str:
    """Name of the unit that a layer of a kind is."""
    return f"layer {kind}"


def parameter_count(parameters: Iterable[StageParameters]) -> Int:
    """Elements of all parameters of a stage, without padding."""
    total: Int = 0
    for each in parameters:
        total = total + each.elements
    return total


def unit_elements(parameters: Iterable[StageParameters]) -> dict[str, Int]:
    """Elements of one of each unit."""
    sizes: dict[str, Int] = {}
    for each in parameters:
        sizes[each.unit] = sizes.get(each.unit, 0) + each.unit_elements
    return sizes


def largest_unit(parameters: Iterable[StageParameters]) -> Int:
    """Elements of the largest unit."""
    found: Int = 0
    for size in unit_elements(parameters).values():
        found = maximum(found, size)
    return found


def largest_parameter(parameters: Iterable[StageParameters]) -> Int:
    """Elements of the largest single parameter."""
    found: Int = 0
    for each in parameters:
        found = maximum(found, each.parameter.elements)
    return found


def trained(parameters: Sequence[StageParameters]) -> list[StageParameters]:
    """Those that have gradients."""
    return [each for each in parameters if each.trained]
