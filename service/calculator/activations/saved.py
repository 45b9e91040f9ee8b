"""A saved tensor together with the checkpointing modules that would drop it."""

from dataclasses import dataclass, replace

from service.calculator.ledger import Category, Tensor
from service.calculator.units import Int


@dataclass(frozen=True, slots=True)
class Saved:
    """A tensor that autograd keeps, `copies` of it in each layer.

    `dropped_by` names the selective-checkpointing modules that recompute it; `is_input` marks the layer's own input,
    the one tensor that full checkpointing keeps (0 copies where the layer's backward does not read it). Of `cached`
    copies operation-level checkpointing keeps the result, whether the backward reads it or not. What `outlives` its
    backward is there in the next forward too.
    """

    tensor: Tensor
    dropped_by: tuple[str, ...] = ()
    is_input: bool = False
    copies: Int = 1
    cached: Int = 0
    outlives: bool = False

    def times(self, copies: Int) -> "Saved":
        """The same tensor, kept `copies` times in each layer."""
        return replace(self, copies=copies)


def saved(
    name: str, shape: tuple[Int, ...], dtype: str, sharded_by: tuple[str, ...], source: str, *dropped_by: str
) -> Saved:
    """An activation of one layer and one micro-batch."""
    return Saved(Tensor(name, Category.ACTIVATIONS, shape, dtype, sharded_by, source), dropped_by)
