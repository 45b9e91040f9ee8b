"""What Megatron's layers save beside frozen weights: inputs of products only where an adapter reads them.

Megatron-Bridge freezes every weight and sets an adapter beside each named product: A to the rank, and B from it. A
frozen product keeps no input (TransformerEngine @ d0067d0d module/linear.py, backward_needs_input; Megatron-LM
@ d98e8a64 tensor_parallel/layers.py, LinearWithFrozenWeight); A keeps its own, B the `rank` columns between. Behind a
fused norm A reads what the product returns: gathered over the tensor group under sequence parallelism, beside this
rank's share, which a fused product keeps once it returns it (module/layernorm_linear.py, return_layernorm_output).
Source: NVIDIA-NeMo/Megatron-Bridge @ 067f987d peft/utils.py, ParallelLinearAdapter, get_adapter_attributes_from_linear.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.ledger import Category, Tensor
from service.calculator.model import Model
from service.calculator.recipe import Adapters, Recipe
from service.calculator.units import where

SOURCE = "NVIDIA-NeMo/Megatron-Bridge @ 067f987d peft/utils.py, ParallelLinearAdapter"
BY_CONTEXT = ("context",)


@dataclass(frozen=True, slots=True)
class _Product:
    """One of a layer's products: the saved tensor that it reads, and the modules whose adapters may sit on it."""

    reads: str
    modules: frozenset[str]
    columns: bool
    dropped_by: tuple[str, ...] = ()


_PRODUCTS = (
    _Product("attention.norm.output", frozenset({"qkv", "q", "k", "v"}), columns=True),
    _Product("attention.output", frozenset({"o"}), columns=False),
    _Product("mlp.norm.output", frozenset({"gate_up", "gate", "up"}), columns=True, dropped_by=("mlp",)),
    _Product("mlp.activation", frozenset({"down"}), columns=False, dropped_by=("mlp",)),
)
_COPIES = {"attention.output_copy": "attention.output"}
"""Second copies that only the product behind them reads."""


def beside_frozen_weights(
    rows: Sequence[Saved], layout: Layout, recipe: Recipe, *, eight_bits: bool = False
) -> list[Saved]:
    """The rows of one layer without the inputs of frozen products, and with what adapters keep.

    With `eight_bits` a fused norm's product keeps the 8-bit form of what it returns in 16.
    """
    adapters = recipe.adapters
    if adapters is None:
        return list(rows)
    products = {each.reads: each for each in _PRODUCTS}
    found: list[Saved] = []
    for row in rows:
        name = row.tensor.name
        product = products.get(_COPIES.get(name, name))
        if product is None:
            found.append(row)
            continue
        carried = [each for each in adapters.modules if each in product.modules]
        if _stays(name, recipe, adapters, read=bool(carried)):
            found.append(row)
        if carried and name not in _COPIES:
            found += _adapted(product, carried, row, layout, recipe, eight_bits=eight_bits)
    return found


def adapted_head(model: Model, layout: Layout, recipe: Recipe) -> list[Tensor]:
    """What an adapter on the head keeps: the head's input, gathered, and the columns between its factors."""
    adapters = recipe.adapters
    if adapters is None or "head" not in adapters.modules:
        return []
    hidden = (layout.local_sequence, layout.micro_batch, model.hidden_size)
    between = (layout.local_sequence, layout.micro_batch, adapters.rank)
    kept = [("head.input.gathered", hidden, recipe.compute), ("adapter.head.between", between, adapters.dtype)]
    if adapters.dropout > 0:
        kept.append(("head.input.mask", hidden, "bool"))
    return [Tensor(name, Category.ACTIVATIONS, shape, dtype, BY_CONTEXT, SOURCE) for name, shape, dtype in kept]


def _stays(name: str, recipe: Recipe, adapters: Adapters, *, read: bool) -> bool:
    """Whether a tensor that products read is kept by something else than an adapter's dropout.

    Fused attention keeps its output itself; a fused norm's product keeps what it returns. A dropout keeps no input.
    """
    if name == "attention.output" and not recipe.scores_stored:
        return True
    if name.endswith(".norm.output"):
        return read and recipe.runs_engine
    return read and adapters.dropout == 0


def _adapted(
    product: _Product, carried: Sequence[str], row: Saved, layout: Layout, recipe: Recipe, *, eight_bits: bool
) -> list[Saved]:
    """What the adapters on one product keep beside `row`, the tensor that the product reads."""
    adapters = recipe.adapters
    if adapters is None:
        return []
    name, shape, by, dropped_by = product.reads, row.tensor.shape, row.tensor.sharded_by, product.dropped_by
    if product.columns:
        name, shape, by = f"{name}.gathered", (layout.local_sequence, *shape[1:]), BY_CONTEXT
    found: list[Saved] = []
    if adapters.dropout > 0:
        dropped = saved(f"{name}.dropped", shape, adapters.dtype, by, SOURCE, *dropped_by)
        mask = saved(f"{name}.mask", shape, "bool", by, SOURCE, *dropped_by)
        found += [each.times(len(carried)) for each in (dropped, mask)]
    elif product.columns:
        # Without sequence parallelism the product returns what it keeps; a norm of its own keeps no output at all.
        apart = where(layout.sequence_shards - 1, 1, 0) if recipe.runs_engine and not eight_bits else 1
        found.append(saved(name, shape, recipe.compute, by, SOURCE, *dropped_by).times(apart))
    between = (layout.local_sequence, layout.micro_batch, adapters.rank)
    return found + [
        saved(f"adapter.{each}.between", between, adapters.dtype, BY_CONTEXT, SOURCE, *dropped_by) for each in carried
    ]
