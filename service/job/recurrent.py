"""Where layers that carry a state along the sequence are itemised: by implementation, kernels and adapters."""

from collections.abc import Iterator

from service.calculator.model import DeltaNet, Mamba, Model
from service.job.diagnostics import Diagnostic
from service.job.values import Values

_HYBRID, _MAMBA, _DELTA_NET = "hybrid", "Mamba-2", "gated delta net"
_DESCRIBED = {
    _HYBRID: ("transformer_engine", "local", "hf"),
    _MAMBA: ("transformer_engine", "local", "hf"),
    _DELTA_NET: ("transformer_engine", "hf", "titan"),
}
"""Implementations by kind of layer; hybrid ones are a mixer or an MLP alone."""


def undescribed_layers(model: Model | None, values: Values) -> list[Diagnostic]:
    """Refusals of layers whose saved tensors nobody has written down for what runs them."""
    if model is None:
        return []
    implementation = values.get("/framework/transformer_impl")
    beside = " and adapters" if values.get("/adapters") is not None else ""
    fields = ("/model", "/framework/transformer_impl")
    messages = [
        f"{name} layers with the implementation {implementation}{beside} are not supported yet"
        for name in _kinds(model)
        if beside or implementation not in _DESCRIBED[name]
    ]
    messages += [f"{what} are not supported yet" for what in _operations(model, implementation, values)]
    return [Diagnostic("unsupported_option", "error", each, fields, str(implementation)) for each in messages]


def _kinds(model: Model) -> list[str]:
    found: dict[str, None] = {}
    for kind in model.kinds:
        if isinstance(kind.attention, Mamba):
            found[_MAMBA] = None
        elif isinstance(kind.attention, DeltaNet):
            found[_DELTA_NET] = None
        elif None in {kind.attention, kind.mlp}:
            found[_HYBRID] = None
    return list(found)


def _operations(model: Model, implementation: str, values: Values) -> Iterator[str]:
    """Forms in torch's own operations: of Mamba-2 anywhere, of the delta rule in Megatron."""
    kinds, eager = _kinds(model), values.get("/kernels/linear_attention") == "eager"
    if _MAMBA in kinds and eager:
        yield "Mamba-2 layers in torch's own operations"
    written_out = eager or values.get("/kernels/deterministic")
    if _DELTA_NET in kinds and implementation == "transformer_engine" and written_out:
        yield "gated delta nets of Megatron in torch's own operations"
