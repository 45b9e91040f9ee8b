"""Low-rank adapters: which parameters are frozen, and the two factors beside each adapted matrix.

An adapter of rank r on a matrix from m to n features holds r·m and n·r elements (LoRA, arXiv 2106.09685). Under tensor
parallelism each factor is split with the side of the matrix that is split.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from service.calculator.layout import Layout
from service.calculator.model import Attention, LayerKind, Mlp, Model
from service.calculator.parameters import BY_TENSOR, REPLICATED, Parameter
from service.calculator.recipe import Adapters, Recipe
from service.calculator.stage import Stage
from service.calculator.states.stage import EMBEDDING, HEAD, StageParameters, layer_unit
from service.calculator.units import Int, ceil_div

SOURCE = "memory_model.md 2.5 LoRA"
BY_ROWS = frozenset({"o", "down"})
"""Modules whose input is split over the tensor group; the others' output is."""


def with_adapters(
    parameters: Sequence[StageParameters], stage: Stage, model: Model, layout: Layout, recipe: Recipe
) -> list[StageParameters]:
    """The stage's parameters with the base frozen and the adapters beside it; as they are without adapters."""
    adapters = recipe.adapters
    if adapters is None:
        return list(parameters)
    found = [replace(each, trained=_is_trained(each, adapters)) for each in parameters]
    for kind, count in stage.kinds.items():
        sides = _layer_sides(model.kinds[kind], model.hidden_size)
        found += _factors(sides, adapters, layout, layer_unit(kind), count)
    ends = []
    if stage.embedding is not None:
        ends.append((EMBEDDING, EMBEDDING, (model.vocab_size, model.hidden_size)))
    if stage.head is not None:
        ends.append((HEAD, HEAD, (model.hidden_size, model.vocab_size)))
    for unit, module, side in ends:
        found += _factors({module: side}, adapters, layout, unit, 1)
    return found


def _is_trained(each: StageParameters, adapters: Adapters) -> bool:
    return each.unit in adapters.trained and each.is_matrix


def _layer_sides(kind: LayerKind, hidden: int) -> dict[str, tuple[int, int]]:
    """Input and output width of each linear module that a layer of this kind has."""
    sides: dict[str, tuple[int, int]] = {}
    if isinstance(kind.attention, Attention):
        query, key = kind.attention.query_width, kind.attention.key_width
        sides |= {"q": (hidden, query), "k": (hidden, key), "v": (hidden, key), "o": (query, hidden)}
    if isinstance(kind.mlp, Mlp):
        sides |= {"up": (hidden, kind.mlp.width), "down": (kind.mlp.width, hidden)}
        if kind.mlp.branches > 1:
            sides["gate"] = (hidden, kind.mlp.width)
    return sides


def _factors(
    sides: dict[str, tuple[int, int]], adapters: Adapters, layout: Layout, unit: str, count: int
) -> Iterable[StageParameters]:
    for module, (wide_in, wide_out) in sides.items():
        if module not in adapters.modules:
            continue
        split_in = module in BY_ROWS
        first: Int = ceil_div(wide_in, layout.tensor) if split_in else wide_in
        second: Int = wide_out if split_in else ceil_div(wide_out, layout.tensor)
        shapes = (
            ("a", (adapters.rank, first), BY_TENSOR if split_in else REPLICATED),
            ("b", (second, adapters.rank), REPLICATED if split_in else BY_TENSOR),
        )
        for side, shape, by in shapes:
            parameter = Parameter(f"adapter.{module}.{side}", shape, by, SOURCE)
            yield StageParameters(parameter, count, unit, dtype=adapters.dtype)
