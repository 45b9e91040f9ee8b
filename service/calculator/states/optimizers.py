"""What an optimizer keeps for the parameters that a rank updates, and what its step needs (memory_model.md 2.5)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from service.calculator.ledger import ALWAYS, BACKWARD, Category, Line, Moment, Tensor
from service.calculator.recipe import Recipe
from service.calculator.states.stage import StageParameters
from service.calculator.units import BYTES, Int, ceil_div, maximum, where

SOURCE = "memory_model.md 2.5"
STATES_ALIVE = (Moment.CHECKPOINT_RESUME, *ALWAYS)
EIGHT_BIT_BLOCK = 256
EIGHT_BIT_LEAST = 4096
"""bitsandbytes quantises states in blocks of 256, and none of a tensor of fewer elements (optim/optimizer.py)."""


@dataclass(frozen=True, slots=True)
class Owned:
    """`count` tensors that an optimizer of this rank updates.

    `matrix` ones have rows and columns that a factored or orthogonalised update can use; `inner` marks those of
    layers, in contrast to the embedding and the head.
    """

    elements: Int
    count: Int
    dtype: str
    rows: Int = 1
    matrix: bool = False
    inner: bool = False

    @property
    def total(self) -> Int:
        """Elements of all of them."""
        return self.elements * self.count


def owned_whole(parameters: Sequence[StageParameters], recipe: Recipe) -> list[Owned]:
    """The tensors that an optimizer updates when nothing is sharded: the parameters one by one."""
    return [
        Owned(
            each.parameter.elements,
            each.count * each.parameter.copies,
            each.dtype or recipe.parameters,
            each.parameter.shape[0],
            matrix=each.is_matrix,
            inner=each.is_linear,
        )
        for each in parameters
    ]


State = tuple[str, Int, str]
"""Name, elements and data type of one kind of state."""


def optimizer_lines(
    owned: Sequence[Owned],
    recipe: Recipe,
    sharded_by: tuple[str, ...],
    percent: int = 100,
    shards: Int = 1,
    released: Int = 0,
) -> list[Line]:
    """States, made by the first step and kept, and what the step needs for itself.

    `percent` of the states are on this device, divided over `shards` ranks; the step's own memory is not needed where
    all of them are elsewhere. `released` bytes of the step's other lines are gone when the update runs.
    """
    lines = []
    for name, elements, dtype in optimizer_states(owned, recipe):
        tensor = _tensor(name, ceil_div(elements, shards) * percent // 100, dtype, sharded_by)
        lines.append(Line(tensor, 1, STATES_ALIVE, lazy=True))
    moments = BACKWARD if recipe.optimizer.in_backward else (Moment.OPTIMIZER_STEP,)
    if percent:
        for name, elements, dtype in step_transients(owned, recipe):
            beyond = maximum(elements - released // BYTES[dtype], 0)
            lines.append(Line(_tensor(name, beyond, dtype, sharded_by), 1, moments))
    return lines


def _tensor(name: str, elements: Int, dtype: str, sharded_by: tuple[str, ...]) -> Tensor:
    return Tensor(f"optimizer.{name}", Category.OPTIMIZER, (elements,), dtype, sharded_by, SOURCE)


def optimizer_states(owned: Sequence[Owned], recipe: Recipe) -> list[State]:
    """Every kind of state of the recipe's optimizer."""
    return _STATES[recipe.optimizer.name](owned, recipe)


def step_transients(owned: Sequence[Owned], recipe: Recipe) -> list[State]:
    """What the step holds at its worst beside states and gradients.

    Adam over all tensors at once (foreach) copies one whole set, until torch 2.0 two (the square roots, and those plus
    epsilon); one tensor at a time needs three of the largest.
    Adafactor squares the gradient and multiplies the update into new tensors, 16-bit weights and gradients are cast
    first (transformers optimization.py). Muon's iteration holds three 16-bit matrices of the largest weight.
    """
    name, largest = recipe.optimizer.name, _largest(owned)
    if name == "adafactor":
        half = any(each.dtype != "fp32" for each in owned)
        return [("update", (4 if half else 2) * largest, "fp32")]
    if name == "muon":
        return [("iteration", 3 * _largest(each for each in owned if each.matrix and each.inner), "bf16")]
    if name != "adam" or recipe.optimizer.implementation == "fused" or not owned:
        return []
    dtype = owned[0].dtype
    if recipe.optimizer.implementation == "loop":
        return [("update", 3 * largest, dtype)]
    copied = largest if recipe.optimizer.in_backward else _total(owned)
    return [("update", copied * recipe.optimizer.foreach_copies, dtype)]


def _adam(owned: Sequence[Owned], recipe: Recipe) -> list[State]:
    total = _total(owned)
    return [
        (name, total, dtype) for name, dtype in zip(("first_moment", "second_moment"), recipe.moments, strict=False)
    ]


def _eight_bit_adam(owned: Sequence[Owned], _: Recipe) -> list[State]:
    small: Int = 0
    large: Int = 0
    for each in owned:
        quantised = where(each.elements // EIGHT_BIT_LEAST, 1, 0)
        small = small + each.total * (1 - quantised)
        large = large + each.total * quantised
    return [
        ("moments_of_small_tensors", 2 * small, "fp32"),
        ("moments", 2 * large, "uint8"),
        ("moments.scales", 2 * ceil_div(large, EIGHT_BIT_BLOCK), "fp32"),
    ]


def _adafactor(owned: Sequence[Owned], _: Recipe) -> list[State]:
    factors: Int = 0
    vectors: Int = 0
    for each in owned:
        if each.matrix:
            columns = ceil_div(each.elements, maximum(each.rows, 1))
            factors = factors + (each.rows + columns) * each.count
        else:
            vectors = vectors + each.total
    return [("row_and_column_factors", factors, "fp32"), ("second_moment_of_vectors", vectors, "fp32")]


def _momentum(owned: Sequence[Owned], recipe: Recipe) -> list[State]:
    return [("momentum", _total(owned), recipe.moments[0])]


def _sgd(owned: Sequence[Owned], recipe: Recipe) -> list[State]:
    return _momentum(owned, recipe) if recipe.optimizer.momentum else []


def _muon(owned: Sequence[Owned], recipe: Recipe) -> list[State]:
    matrices = [each for each in owned if each.matrix and each.inner]
    others = [each for each in owned if not (each.matrix and each.inner)]
    return [*_momentum(matrices, recipe), *_adam(others, recipe)]


def _none(_: Sequence[Owned], __: Recipe) -> list[State]:
    return []


_STATES: Mapping[str, Callable[[Sequence[Owned], Recipe], list[State]]] = MappingProxyType(
    {
        "adam": _adam,
        "adamw8bit": _eight_bit_adam,
        "adafactor": _adafactor,
        "sgd": _sgd,
        "muon": _muon,
        "lion": _momentum,
        "none": _none,
    }
)


def _total(owned: Iterable[Owned]) -> Int:
    total: Int = 0
    for each in owned:
        total = total + each.total
    return total


def _largest(owned: Iterable[Owned]) -> Int:
    found: Int = 0
    for each in owned:
        found = maximum(found, each.elements)
    return found
