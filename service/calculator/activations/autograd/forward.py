"""A layer's forward while it is written down: its dimensions and types, and the operation that all layers share.

Under tensor parallelism torch's DTensor gathers a sequence-parallel input before the projections, and the projections
keep the gathered tensor: unlike Megatron, which keeps its share and gathers again. So the inputs of projections are
whole sequences here. Source: torchtitan @ b5bcd76c, models/llama3/sharding.py.
"""

from dataclasses import dataclass, field, replace

from service.calculator.activations.autograd.tape import Tape, Value
from service.calculator.layout import Layout
from service.calculator.model import Model
from service.calculator.narrow import narrow_input, narrow_weights
from service.calculator.recipe import Adapters, Fp8, Recipe
from service.calculator.units import Int, ceil_div, where

WEIGHT_CAST = "weight_cast"
"""Name of a weight's 16-bit copy, after its projection's."""

HEAD = "head"
"""Module that accelerate leaves as it is under torchao: the last linear layer (utils/ao.py @ 16cb6eb8)."""

BY_SEQUENCE = ("sequence", "context")
BY_CONTEXT = ("context",)
BY_TENSOR = ("tensor", "context")


@dataclass(frozen=True, slots=True)
class Linear:
    """A projection: its module's name, the adapters that may sit on it, its local widths, and what splits its output.

    A row-parallel projection sums over the tensor group: its output is that of the whole sequence before the sum.
    """

    module: str
    carries: tuple[str, ...]
    inputs: Int
    outputs: Int
    sharded_by: tuple[str, ...] = BY_TENSOR


@dataclass(frozen=True, slots=True)
class Forward:
    """Where operations are recorded, with everything that decides what they keep."""

    model: Model
    layout: Layout
    recipe: Recipe
    tape: Tape = field(default_factory=Tape)

    @property
    def residual_type(self) -> str:
        """Data type of the residual stream: autocast leaves it in the type of the weights."""
        return "fp32" if self.autocasts else self.recipe.compute

    @property
    def autocasts(self) -> bool:
        """Whether projections run on 16-bit copies of fp32 weights."""
        return self.recipe.autocast and self.recipe.parameters == "fp32" and self.recipe.compute != "fp32"

    @property
    def casts_kept(self) -> bool:
        """Whether each projection keeps its own casts; the compiler computes casts of inputs and weights again."""
        return self.autocasts and not self.recipe.compiled

    @property
    def trained(self) -> bool:
        """Whether the layers' own weights train; beside adapters they are frozen."""
        return self.recipe.adapters is None

    def residual(self, name: str, dtype: str | None = None) -> Value:
        """A tensor of the residual stream, split over the tensor group under sequence parallelism."""
        rows = self.layout.local_sequence // self.layout.sequence_shards
        shape = (self.layout.micro_batch, rows, self.model.hidden_size)
        return Value(name, shape, dtype or self.residual_type, BY_SEQUENCE)

    def tokens(self, name: str, *widths: Int, by: tuple[str, ...] = BY_TENSOR, base: Value | None = None) -> Value:
        """A tensor with `widths` for each token of the local sequence, in the compute type."""
        shape = (self.layout.micro_batch, self.layout.local_sequence, *widths)
        return Value(name, shape, self.recipe.compute, by, base)

    def local(self, width: int) -> Int:
        """A width split over the tensor group."""
        return ceil_div(width, self.layout.tensor)

    def like(self, value: Value, name: str, dtype: str | None = None) -> Value:
        """A new tensor of the same shape."""
        return Value(name, value.shape, dtype or value.dtype, value.sharded_by)

    def linear(self, linear: Linear, name: str, value: Value) -> Value:
        """A projection of `value`: a trained weight keeps its input, a frozen one nothing; autocast keeps its casts."""
        adapters = self.recipe.adapters
        kept = adapters is None or adapters.inputs_kept or bool(set(linear.carries).intersection(adapters.trained))
        output = Value(name, (*value.shape[:-1], linear.outputs), self.recipe.compute, linear.sharded_by)
        magnitudes = self._magnitudes(linear, name, value)
        self.tape.record("mm", linear.module, (output,), self._operands(linear, name, value, kept=kept), magnitudes)
        if adapters is not None:
            self.adapt(linear, adapters, name, value)
        return output

    def _operands(self, linear: Linear, name: str, value: Value, *, kept: bool) -> tuple[Value, ...]:
        """What a product keeps of its input, where the weight's gradient needs it (`kept`), and of its weight.

        Transformer Engine keeps a narrow form of the input, one for each product, and those of the weight unless FSDP2
        gathers it again (module/linear.py). torchao's product keeps what it was given, before it casts (torchao
        @ 36027d82 float8/float8_linear.py), and casts the whole weight, so that autocast has no copy of it.
        """
        fp8 = self.recipe.fp8
        head = linear.module == HEAD
        if (
            fp8 is not None
            and fp8.backend == "transformer_engine"
            and not (head and self.recipe.transformer_impl != "hf")
        ):
            return self._narrow(fp8, linear, name, value, kept=kept)
        read = value
        weights: tuple[Value, ...] = ()
        if self.casts_kept:
            read = (
                value if value.dtype == self.recipe.compute else self.like(value, f"{name}.cast", self.recipe.compute)
            )
            weight = (linear.outputs, linear.inputs)
            weights = (Value(f"{name}.{WEIGHT_CAST}", weight, self.recipe.compute, ("tensor",)),)
        adapters = self.recipe.adapters
        if adapters is not None and adapters.inputs_outlive_backward:
            self.tape.outliving.add(read.storage)
        if self.recipe.casts_eagerly and not head:
            return (read,)
        return (read, *weights) if kept else weights

    def _narrow(self, fp8: Fp8, linear: Linear, name: str, value: Value, *, kept: bool) -> tuple[Value, ...]:
        found = []
        if kept:
            found += [
                Value(f"{name}.narrow_input{suffix}", shape, dtype, value.sharded_by, copies=value.copies)
                for suffix, shape, dtype in narrow_input(fp8.recipe, value.shape)
            ]
        if not self.recipe.habits.narrow_weights_dropped:
            forms = narrow_weights(fp8.recipe, linear.outputs * linear.inputs, fp8.copies)
            found += [
                Value(f"{name}.narrow_weight{suffix}", shape, dtype, ("tensor",)) for suffix, shape, dtype in forms
            ]
        return tuple(found)

    def _magnitudes(self, linear: Linear, name: str, value: Value) -> tuple[Value, ...]:
        """Absolute values of a product's operands: of its input, and of its weight as FSDP gathered it."""
        fp8 = self.recipe.fp8
        if fp8 is None or fp8.backend != "torchao" or fp8.recipe != "current" or fp8.all_gather:
            return ()
        weight = Value(f"{name}.weight_magnitude", (linear.outputs, linear.inputs), self.recipe.compute, ("tensor",))
        return self.like(value, f"{name}.input_magnitude", self.recipe.compute), weight

    def adapt(self, linear: Linear, adapters: Adapters, name: str, value: Value) -> None:
        """Adapters: the first matrix keeps the input in its own type, the second the `rank` columns between."""
        dtype = self.recipe.compute if self.autocasts else adapters.dtype
        for carried in linear.carries:
            if carried not in adapters.modules:
                continue
            label = f"{name}.{carried}_adapter"
            read = value if value.dtype == dtype else self.like(value, f"{label}.input", dtype)
            if adapters.dropout > 0:
                read = self.like(value, f"{label}.input", dtype)
                self.tape.record("dropout", linear.module, (read,), (self.like(value, f"{label}.mask", "bool"),))
            shape = (*value.shape[:-1], adapters.rank)
            between = Value(f"{label}.between", shape, dtype, BY_CONTEXT)
            self.tape.record("mm", f"{linear.module}.lora_a", (between,), (read,))
            self.tape.record("mm", f"{linear.module}.lora_b", (), (between,))

    def reduce_scatter(self, name: str) -> None:
        """The sum of a row-parallel output, of which each rank keeps its part of the sequence; nothing on one rank."""
        part = self.residual(f"{name}.reduced", self.recipe.compute)
        spread = where(self.layout.sequence_shards - 1, 1, 0)
        self.tape.record("reduce_scatter", f"{name}.sum", (replace(part, copies=spread),))
