"""Dense MLPs of torch modules."""

from service.calculator.activations.autograd.forward import BY_CONTEXT, BY_TENSOR, Forward, Linear
from service.calculator.activations.autograd.tape import Value
from service.calculator.model import Mlp
from service.calculator.units import Int

PYTHON_GELU = ("tanh", "half", "sum")
"""What GELU's tanh form keeps beside its input when written in Python: transformers activations.py, NewGELUActivation.

The cube keeps the input, the tanh its result, the product half the input and one plus the tanh."""


def mlp(forward: Forward, kind: Mlp, value: Value, name: str = "mlp", module: str = "") -> Value:
    """Projection, activation and projection back; `name` heads the tensors, `module` the projections."""
    width = forward.local(kind.width)
    if kind.branches > 1:
        gate, up = _branches(forward, kind, value, width, name, module)
        activated = gated_activation(forward, gate, up, name)
    else:
        linear = Linear(f"{module}w1", ("up",), forward.model.hidden_size, width)
        activated = _activation(forward, kind, forward.linear(linear, f"{name}.up.output", value), name)
    down = Linear(f"{module}w2", ("down",), width, forward.model.hidden_size, BY_CONTEXT)
    output = forward.linear(down, f"{name}.down", activated)
    forward.reduce_scatter(name)
    return output


def gated_activation(forward: Forward, gate: Value, up: Value, name: str) -> Value:
    """Activation of one branch times the other; written apart, the activated branch is kept as well."""
    product = Value(f"{name}.activation", gate.shape, forward.recipe.compute, gate.sharded_by)
    if forward.recipe.activation_fused or forward.recipe.compiled:
        forward.tape.record("pointwise", f"{name}.activation", (product,), (gate, up))
        return product
    activated = forward.like(gate, f"{name}.gate_activation")
    forward.tape.record("pointwise", f"{name}.gate", (activated,), (gate,))
    forward.tape.record("pointwise", f"{name}.activation", (product,), (activated, up))
    return product


def _branches(forward: Forward, kind: Mlp, value: Value, width: Int, name: str, module: str) -> tuple[Value, Value]:
    hidden = forward.model.hidden_size
    if kind.fused_projection and forward.recipe.transformer_impl == "hf":
        linear = Linear(f"{module}w13", ("gate", "up"), hidden, 2 * width)
        packed = forward.linear(linear, f"{name}.up.output", value)
        return (
            forward.tokens(f"{name}.gate.output", width, base=packed),
            forward.tokens(f"{name}.up.output", width, base=packed),
        )
    gate = forward.linear(Linear(f"{module}w1", ("gate",), hidden, width), f"{name}.gate.output", value)
    up = forward.linear(Linear(f"{module}w3", ("up",), hidden, width), f"{name}.up.output", value)
    return gate, up


def _activation(forward: Forward, kind: Mlp, raw: Value, name: str) -> Value:
    """An activation of one branch: GELU keeps its input, ReLU its result, GELU written out four operands."""
    result = forward.like(raw, f"{name}.activation")
    if kind.kind == "gelu" and kind.gelu_in_python and not forward.recipe.compiled:
        keeps = [raw, *(Value(f"{name}.gelu_{each}", raw.shape, raw.dtype, BY_TENSOR) for each in PYTHON_GELU)]
    elif kind.kind == "relu":
        keeps = [result]
    elif kind.kind == "relu2":
        keeps = [forward.like(raw, f"{name}.rectified")]
    else:
        keeps = [raw]
    forward.tape.record("pointwise", f"{name}.activation", (result,), tuple(keeps))
    return result
