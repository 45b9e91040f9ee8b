"""The operations of a layer's forward, and what each of them keeps for its backward.

Autograd keeps storages, not views: a slice of a fused projection keeps the whole projection (memory_model.md, section
0, measured). What two operations keep is stored once.
"""

from dataclasses import dataclass, field

from service.calculator.units import Int, maximum


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A tensor of the forward; a view names the tensor whose storage it shares.

    `copies` of it exist (0 or 1); where none does, `otherwise` stands for it.
    """

    name: str
    shape: tuple[Int, ...]
    dtype: str
    sharded_by: tuple[str, ...]
    base: "Value | None" = None
    copies: Int = 1
    otherwise: "Value | None" = None

    @property
    def storage(self) -> "Value":
        """The tensor whose memory this one occupies."""
        return self if self.base is None else self.base.storage


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One operation: its kind, the module it belongs to, what it makes, and what it keeps for its backward.

    `magnitudes` are the absolute values of its operands, from which an 8-bit product's scales are made.
    """

    kind: str
    module: str
    results: tuple[Value, ...]
    keeps: tuple[Value, ...]
    magnitudes: tuple[Value, ...] = ()


@dataclass(slots=True)
class Tape:
    """Operations in the order in which they run; what is `outliving` stays as long as the graph, past its backward."""

    operations: list[Operation] = field(default_factory=list)
    outliving: set[Value] = field(default_factory=set)

    def record(
        self,
        kind: str,
        module: str,
        results: tuple[Value, ...],
        keeps: tuple[Value, ...] = (),
        magnitudes: tuple[Value, ...] = (),
    ) -> None:
        """Add an operation."""
        self.operations.append(Operation(kind, module, results, keeps, magnitudes))

    def storages(self) -> dict[Value, Int]:
        """Every storage that some operation keeps and how many of it, in the order in which they are first kept."""
        found: dict[Value, Int] = {}
        for operation in self.operations:
            for kept in operation.keeps:
                storage = kept.storage
                found[storage] = maximum(found.get(storage, 0), storage.copies)
                if storage.otherwise is not None:
                    found[storage.otherwise] = maximum(found.get(storage.otherwise, 0), 1 - storage.copies)
        return found
