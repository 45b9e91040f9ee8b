"""Low-rank adapters: which parameters are frozen, and the two factors beside each adapted matrix.

An adapter of rank r on a matrix from m to n features holds r·m and n·r elements (LoRA, arXiv 2106.09685). Under tensor
parallelism each factor is split with the side of the matrix that is split. Experts whose weights are stacked in one
parameter have factors of that parameter, r rows for each expert; where it fuses two branches, each has r (huggingface/
peft @ 5d602fdb: tuners/lora/layer.py, ParamWrapper; utils/transformers_weight_conversion.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from service.calculator.layout import Layout
from service.calculator.model import Attention, LatentAttention, LayerKind, Mlp, Model, Moe
from service.calculator.parameters import BY_EXPERT, BY_TENSOR, REPLICATED, Parameter
from service.calculator.recipe import Adapters, Recipe
from service.calculator.stage import Stage
from service.calculator.states.stage import EMBEDDING, HEAD, StageParameters, layer_unit
from service.calculator.units import Int, ceil_div

SOURCE = "memory_model.md 2.5 LoRA"
SPLIT_SOURCE = "NVIDIA-NeMo/Megatron-Bridge @ 067f987d peft/utils.py, ParallelLinearAdapter"
BY_ROWS = frozenset({"o", "down"})
"""Modules whose input is split over the tensor group; the others' output is."""

WHOLE = frozenset({"q_a", "kv_a"})
"""Modules that are not split: the down-projections to the latents."""


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
        factors = [*_factors(sides, adapters, layout), *_expert_factors(model.kinds[kind], model, adapters, layout)]
        found += [_beside(each, adapters, layer_unit(kind), count) for each in factors]
    ends = []
    if stage.embedding is not None:
        ends.append((EMBEDDING, EMBEDDING, (model.vocab_size, model.hidden_size)))
    if stage.head is not None:
        ends.append((HEAD, HEAD, (model.hidden_size, model.vocab_size)))
    for unit, module, side in ends:
        found += [_beside(each, adapters, unit, 1) for each in _factors({module: side}, adapters, layout)]
    return found


def _beside(factor: Parameter, adapters: Adapters, unit: str, count: int) -> StageParameters:
    return StageParameters(factor, count, unit, dtype=adapters.dtype)


def _is_trained(each: StageParameters, adapters: Adapters) -> bool:
    return each.unit in adapters.trained and each.is_matrix


def _layer_sides(kind: LayerKind, hidden: int) -> dict[str, tuple[int, int]]:
    """Input and output width of each linear module that a layer of this kind has, experts aside."""
    sides: dict[str, tuple[int, int]] = {}
    match kind.attention:
        case Attention() as attention:
            query, key = attention.query_width, attention.key_width
            sides |= {"q": (hidden, query), "k": (hidden, key), "v": (hidden, key), "o": (query, hidden)}
            sides["qkv"] = (hidden, query + 2 * key)
        case LatentAttention() as latent:
            sides |= _latent_sides(latent, hidden)
    match kind.mlp:
        case Mlp() as mlp:
            sides |= _mlp_sides(mlp.width, mlp.branches, hidden)
        case Moe() as moe if moe.shared_width:
            sides |= _mlp_sides(moe.shared_width, moe.branches, hidden)
    return sides


def _latent_sides(attention: LatentAttention, hidden: int) -> dict[str, tuple[int, int]]:
    heads, rank, latent = attention.heads, attention.query_rank, attention.latent_rank
    query = heads * (attention.nope_dim + attention.rope_dim)
    queries = {"q_a": (hidden, rank), "q_b": (rank, query)} if rank else {"q": (hidden, query)}
    return {
        **queries,
        "kv_a": (hidden, latent + attention.rope_dim),
        "kv_b": (latent, heads * (attention.nope_dim + attention.value_dim)),
        "o": (heads * attention.value_dim, hidden),
    }


def _mlp_sides(width: int, branches: int, hidden: int) -> dict[str, tuple[int, int]]:
    gate = {"gate": (hidden, width), "gate_up": (hidden, 2 * width)} if branches > 1 else {}
    return {"up": (hidden, width), "down": (width, hidden), **gate}


def _factors(sides: Mapping[str, tuple[int, int]], adapters: Adapters, layout: Layout) -> Iterable[Parameter]:
    for module, (wide_in, wide_out) in sides.items():
        if module not in adapters.modules:
            continue
        if adapters.split:
            yield from _split_factors(module, wide_in, wide_out, adapters.rank, layout)
            continue
        by_rows, by_columns = module in BY_ROWS, module not in BY_ROWS | WHOLE
        first: Int = ceil_div(wide_in, layout.tensor) if by_rows else wide_in
        second: Int = ceil_div(wide_out, layout.tensor) if by_columns else wide_out
        yield Parameter(f"adapter.{module}.a", (adapters.rank, first), BY_TENSOR if by_rows else REPLICATED, SOURCE)
        yield Parameter(f"adapter.{module}.b", (second, adapters.rank), BY_TENSOR if by_columns else REPLICATED, SOURCE)


def _split_factors(module: str, wide_in: int, wide_out: int, rank: int, layout: Layout) -> Iterable[Parameter]:
    """Megatron-Bridge's factors: A splits its rank, or its input where the product does; B splits its output."""
    row_wise = module in BY_ROWS
    first = (rank, ceil_div(wide_in, layout.tensor)) if row_wise else (ceil_div(rank, layout.tensor), wide_in)
    yield Parameter(f"adapter.{module}.a", first, BY_TENSOR, SPLIT_SOURCE)
    yield Parameter(f"adapter.{module}.b", (ceil_div(wide_out, layout.tensor), rank), BY_TENSOR, SPLIT_SOURCE)


def _expert_factors(kind: LayerKind, model: Model, adapters: Adapters, layout: Layout) -> Iterable[Parameter]:
    """Factors on the routed experts that a rank holds: of their stacked weights, or of each expert's own modules."""
    moe, hidden = kind.mlp, model.hidden_size
    if not isinstance(moe, Moe):
        return
    experts, width = ceil_div(moe.experts, layout.expert), ceil_div(moe.width, layout.expert_tensor)
    stacked: dict[str, tuple[Int, Int]] = {}
    if adapters.changes("up"):
        stacked["gate_up"] = (hidden, moe.branches * width)
    if adapters.changes("down"):
        stacked["down"] = (width, hidden)
    for module, (wide_in, wide_out) in stacked.items():
        rank = adapters.rank * (moe.branches if module == "gate_up" else 1) * experts
        yield Parameter(f"adapter.experts.{module}.a", (rank, wide_in), BY_EXPERT, SOURCE)
        yield Parameter(f"adapter.experts.{module}.b", (wide_out, rank), BY_EXPERT, SOURCE)
    if adapters.experts_stacked:
        return
    sides: dict[str, tuple[Int, Int]] = {"up": (hidden, width), "down": (width, hidden)}
    sides |= {"gate": (hidden, width)} if moe.branches > 1 else {}
    for module, (one, other) in sides.items():
        if module in adapters.modules:
            yield Parameter(f"adapter.experts.{module}.a", (adapters.rank, one), BY_EXPERT, SOURCE, experts)
            yield Parameter(f"adapter.experts.{module}.b", (other, adapters.rank), BY_EXPERT, SOURCE, experts)
