"""What a norm keeps, by how it is written (memory_model.md, section 3.2; each form measured to the byte).

One kernel keeps its input and fp32 statistics. Written in torch operations an RMSNorm keeps an fp32 copy of its input,
unless that is fp32 already, and the normalised tensor for the gradient of its weight: in the input's type where the
cast comes before the weight (Llama), in fp32 where it comes after (OLMo 2, and `F.rms_norm` where torch has no kernel
for it). Gemma's weight is an offset, so that its sum with one is kept too.
"""

from dataclasses import replace

from service.calculator.activations.autograd.forward import Forward
from service.calculator.activations.autograd.tape import Value


def norm(forward: Forward, name: str, value: Value, output: Value) -> Value:
    """Record the norm of `value`, whose result is `output`; returns the result with its type filled in."""
    layernorm = forward.model.normalization == "layernorm"
    shape = (*value.shape[:-1], 2 if layernorm else 1)
    statistics = Value(f"{name}.statistics", shape, "fp32", value.sharded_by)
    if layernorm or forward.recipe.norm_fused or forward.recipe.compiled:
        # Autocast runs norms in fp32 (torch ATen/autocast_mode.h); the compiler computes a cast of its result again.
        result = replace(output, dtype=forward.recipe.compute if forward.recipe.compiled else value.dtype)
        forward.tape.record("norm", name, (result,), (value, statistics))
        return result
    result = replace(output, dtype=value.dtype)
    forward.tape.record("norm", name, (result,), (*_eager(forward, name, value), statistics))
    return result


def _eager(forward: Forward, name: str, value: Value) -> list[Value]:
    form = forward.recipe.norm_form or forward.model.norm_form
    wide = value if value.dtype == "fp32" else forward.like(value, f"{name}.input_fp32", "fp32")
    keeps = [wide]
    if forward.trained:
        keeps.append(forward.like(value, f"{name}.normalised", value.dtype if form == "cast_first" else "fp32"))
    if form == "offset":
        keeps.append(Value(f"{name}.offset_weight", (value.shape[-1],), "fp32", ()))
    return keeps
