"""Mixtures of experts of torch modules (memory_model.md, section 3.3; transformers' forms measured to the byte).

transformers multiplies an expert's output by its routing weight, so the down-projection's output is kept; torchtitan
does so in fp32. `batched_mm`, which gathers a copy of the weights for every row, is never admissible for training and
is refused before it comes here.
"""

from dataclasses import replace
from typing import Literal

from service.calculator.activations.autograd.forward import BY_CONTEXT, BY_SEQUENCE, Forward, Linear
from service.calculator.activations.autograd.mlp import gated_activation, mlp
from service.calculator.activations.autograd.tape import Value
from service.calculator.model import Mlp, Moe
from service.calculator.routing import expert_rows, routed_tokens, sent_rows
from service.calculator.units import Int, ceil_div, where

BY_EXPERT = ("sequence", "context", "expert_tensor")
EXPERT = ("expert", "expert_tensor")


def experts(forward: Forward, moe: Moe, value: Value) -> Value:
    """Router, routed experts and shared experts."""
    if moe.every_expert:
        _every_expert(forward, moe, value)
        if moe.shared_width:
            _shared(forward, moe, value)
        return forward.residual("mlp.output", forward.recipe.compute)
    _router(forward, moe, value)
    titan = forward.recipe.transformer_impl == "titan"
    if titan:
        _exchange(forward, "dispatch", expert_rows(moe, forward.layout))
    weighted = _routed(forward, moe, expert_rows(moe, forward.layout))
    if titan:
        _exchange(forward, "combine", sent_rows(moe, forward.layout))
    _combine(forward, moe, weighted)
    if moe.shared_width:
        _shared(forward, moe, value)
    return forward.residual("mlp.output", forward.recipe.compute)


def _tokens(forward: Forward, name: str, width: Int, dtype: str) -> Value:
    return Value(name, (routed_tokens(forward.layout), width), dtype, BY_SEQUENCE)


def _router(forward: Forward, moe: Moe, value: Value) -> None:
    """Scores in fp32, the chosen experts, and the chosen scores with their sum, by which they are normalised.

    A softmax over the chosen ones keeps its result alone. DeepSeek's routers and torchtitan's
    multiply in fp32 and keep copies of their operands.
    """
    scores = _tokens(forward, "router.scores", moe.experts, "fp32")
    read = [value] if forward.trained else []
    if moe.expert_bias or moe.router_fp32 or forward.recipe.transformer_impl == "titan":
        wide = _tokens(forward, "router.input_fp32", forward.model.hidden_size, "fp32")
        weight = Value("router.weight_fp32", (moe.experts, forward.model.hidden_size), "fp32", ())
        read = [wide, weight] if forward.trained else [weight]
    forward.tape.record("mm", "router_gate", (scores,), tuple(read))
    chosen = _tokens(forward, "router.chosen", moe.top_k, "fp32")
    indices = _tokens(forward, "router.indices", moe.top_k, "int64")
    if moe.chosen_softmax and forward.recipe.transformer_impl == "hf":
        softmax = replace(chosen, dtype=forward.recipe.compute) if moe.router_bias else chosen
        forward.tape.record("topk", "router", (chosen, indices), (indices, softmax))
        return
    forward.tape.record("pointwise", "router", (), (scores,))
    forward.tape.record("topk", "router", (chosen, indices), (indices,))
    total = _tokens(forward, "router.chosen_sum", 1, "fp32")
    forward.tape.record("pointwise", "router", (), (chosen, total))


def _every_expert(forward: Forward, moe: Moe, value: Value) -> None:
    """Llama 4 in transformers: all tokens are repeated for each expert and weighed before it; most weights are 0.

    Source: transformers 5.24.0 modeling_llama4.py, Llama4TextMoe and Llama4TextExperts.
    """
    rows = expert_rows(moe, forward.layout)

    def value_of(name: str, columns: Int) -> Value:
        return Value(f"experts.{name}", (rows, columns), forward.recipe.compute, BY_EXPERT)

    scores = _tokens(forward, "router.scores", moe.experts, "fp32")
    indices = _tokens(forward, "router.indices", moe.top_k, "int64")
    forward.tape.record("mm", "router_gate", (scores,), (value,) if forward.trained else ())
    forward.tape.record("topk", "router", (indices,), (indices, scores))
    weighed = value_of("input", forward.model.hidden_size)
    keeps = (value_of("repeated", forward.model.hidden_size), value_of("weights", 1))
    forward.tape.record("pointwise", "experts.weighing", (weighed,), keeps)
    up = value_of("up.output", moe.branches * moe.width)
    forward.tape.record("bmm", "experts.w13", (up,), (weighed,))
    branches = [Value(f"experts.{each}", (rows, moe.width), up.dtype, BY_EXPERT, up) for each in ("gate", "up")]
    activated = gated_activation(forward, branches[0], branches[1], "experts")
    forward.tape.record("bmm", "experts.w2", (), (activated,))


def _exchange(forward: Forward, name: str, rows: Int) -> None:
    """The all-to-all between ranks with different experts: its result is permuted next, so nothing keeps it."""
    spread = where(forward.layout.expert - 1, 1, 0)
    moved = Value(f"experts.{name}", (rows, forward.model.hidden_size), forward.recipe.compute, BY_EXPERT, None, spread)
    forward.tape.record("all_to_all", name, (moved,))


def _routed(forward: Forward, moe: Moe, rows: Int) -> Value:
    """The experts' products over the rows that were sent to them; returns their output."""
    recipe, width = forward.recipe, ceil_div(moe.width, forward.layout.expert_tensor)

    def value(name: str, columns: Int, base: Value | None = None) -> Value:
        return Value(f"experts.{name}", (rows, columns), recipe.compute, BY_EXPERT, base)

    experts = ceil_div(moe.experts, forward.layout.expert)
    offsets = Value("experts.offsets", (experts,), "int32", ("expert",))
    read = value("input", forward.model.hidden_size)
    up = value("up.output", moe.branches * width)
    keeps = _operands(forward, read, "up", (experts, moe.branches * width, forward.model.hidden_size))
    forward.tape.record("grouped_mm", "experts.w13", (up,), tuple(keeps))
    _adapt_each(forward, ("gate", "up")[2 - moe.branches :], read)
    branches = [value(each, width, up) for each in ("gate.output", "up.output")[: moe.branches]]
    if moe.clamped and recipe.transformer_impl == "hf" and not recipe.compiled:
        # Both branches after their clamps and the sigmoid, beside what a gated activation keeps (GptOssExperts).
        keeps = [value(each, width) for each in ("clamped_gate", "clamped_up", "sigmoid")]
        forward.tape.record("pointwise", "experts.clamp", (), tuple(keeps))
    if len(branches) > 1:
        activated = gated_activation(forward, branches[0], branches[1], "experts")
    else:
        activated = value("activation", width)
        forward.tape.record("pointwise", "experts.activation", (activated,), (up,))
    output = value("output", forward.model.hidden_size)
    keeps = _operands(forward, activated, "down", (experts, forward.model.hidden_size, width))
    if recipe.grouped_gemm:
        keeps.append(offsets)
    forward.tape.record("grouped_mm", "experts.w2", (output,), tuple(keeps))
    _adapt_each(forward, ("down",), activated)
    return output


def _operands(forward: Forward, read: Value, module: Literal["up", "down"], shape: tuple[Int, ...]) -> list[Value]:
    """What a product of experts keeps of its input and of its weights, which have this shape together.

    Trained weights need the input, and are themselves no saved tensors. An adapter on stacked weights adds its change
    to all of them: the product runs on the sum, which is a new tensor (measured: input and sum, to the byte).
    """
    adapters = forward.recipe.adapters
    if adapters is None:
        return [read]
    if adapters.changes(module):
        return [read, Value(f"experts.{module}.weight", shape, forward.recipe.running_weights, EXPERT)]
    return [read] if adapters.inputs_kept and not adapters.experts_stacked else []


def _adapt_each(forward: Forward, modules: tuple[str, ...], value: Value) -> None:
    """Adapters on the linear modules of each expert, over the rows that it gets."""
    adapters = forward.recipe.adapters
    if adapters is not None and not adapters.experts_stacked:
        linear = Linear("experts", modules, forward.model.hidden_size, 0)
        forward.adapt(linear, adapters, "experts", value)


def _combine(forward: Forward, moe: Moe, output: Value) -> None:
    """Outputs times routing weights, added up for each token.

    transformers' loop over experts adds them one by one with a function that keeps its source; the grouped form sorts
    rows and keeps three orders of them. torchtitan multiplies fp32 copies, which the compiler makes again.
    """
    recipe, rows = forward.recipe, sent_rows(moe, forward.layout)

    def per_row(name: str, dtype: str, count: int) -> Value:
        return Value(f"experts.{name}", (rows, count), dtype, BY_EXPERT)

    titan = recipe.transformer_impl == "titan"
    source = output
    if titan and not recipe.compiled:
        source = per_row("output_fp32", "fp32", forward.model.hidden_size)
    elif titan:
        source = per_row("output", recipe.compute, forward.model.hidden_size)
    cast = moe.scores_cast and recipe.transformer_impl == "hf"
    keeps = [source, per_row("weights", recipe.compute if cast else "fp32", 1)]
    orders = (4 if moe.bias else 3) if recipe.grouped_gemm and not titan else 2
    keeps.append(per_row("orders", "int64", orders))
    if not recipe.grouped_gemm:
        keeps.append(per_row("weighted", recipe.compute, forward.model.hidden_size))
    forward.tape.record("pointwise", "experts.combine", (), tuple(keeps))


def _shared(forward: Forward, moe: Moe, value: Value) -> None:
    """The shared experts, one dense MLP, and the gate that multiplies their output in Qwen2-MoE."""
    output = mlp(forward, Mlp(moe.shared_width, moe.kind), value, "shared_experts", "shared_experts.")
    if moe.shared_gate:
        gate = forward.linear(
            Linear("shared_experts.gate", (), forward.model.hidden_size, 1, BY_CONTEXT), "shared_experts.gate", value
        )
        forward.tape.record("pointwise", "shared_experts.gate", (), (output, gate))
