"""The frameworks' rules on degrees, batches and layers, each as one formula on ints or int64 arrays.

Source of Megatron-Core's: the checks of Megatron-LM at commit d98e8a64 (megatron/training/arguments.py, megatron/core/
transformer_config.py, parallel_state.py, pipeline_parallel/schedules.py). The numbers M1 to M26 are those of this
project's list of rules, which `docs/formats.md` prints.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from service.calculator.layout import Layout
from service.calculator.model import Model
from service.calculator.units import Int, lcm, where
from service.calculator.validity.facts import Facts, Truth, complete, facts_of


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its code, the facts that its formula takes by name, and the formula, true where it is broken.

    `kind` is E when the framework refuses to start, R when it fails or misbehaves later, W when it only warns.
    """

    number: str
    code: str
    kind: Literal["E", "R", "W"]
    statement: str
    needs: tuple[str, ...]
    formula: Callable[..., Truth]

    def broken(self, facts: Facts) -> Truth | None:
        """Where the facts break the rule; None when one that it needs is unknown."""
        values = [getattr(facts, name) for name in self.needs]
        return None if any(each is None for each in values) else self.formula(*values)


def _rule(number: str, code: str, kind: Literal["E", "R", "W"], statement: str, formula: Callable[..., Truth]) -> Rule:
    """A rule whose needs are the names of its formula's parameters."""
    return Rule(number, code, kind, statement, tuple(inspect.signature(formula).parameters), formula)


def _world(world_size: Int, tensor: Int, pipeline: Int, context: Int) -> Truth:
    return world_size % (tensor * pipeline * context) != 0


def _data(world_size: Int, tensor: Int, pipeline: Int, context: Int, data: Int) -> Truth:
    """Where the degrees divide the GPUs but their product is another number."""
    grid = tensor * pipeline * context
    return (world_size % grid == 0) & (grid * data != world_size)


def _expert_grid(world_size: Int, tensor: Int, expert_tensor: Int, expert: Int, pipeline: Int) -> Truth:
    """Only where the grid differs from that of the dense layers, which has a rule of its own."""
    differs = (expert > 1) | (expert_tensor != tensor)
    return differs & (world_size % (expert_tensor * expert * pipeline) != 0)


def _heads(heads: Int, tensor: Int) -> Truth:
    return heads % tensor != 0


def _kv_heads(kv_heads: Int, tensor: Int) -> Truth:
    return (kv_heads % tensor != 0) & (tensor % kv_heads != 0)


def _linear_heads(linear_heads: Int, tensor: Int, context: Int) -> Truth:
    return linear_heads % (tensor * context) != 0


def _kv_heads_whole(kv_heads: Int, tensor: Int) -> Truth:
    return kv_heads % tensor != 0


def _experts(experts: Int, expert: Int) -> Truth:
    """Experts shared unevenly, or expert parallelism without experts (0 experts)."""
    return (experts % expert != 0) | ((experts == 0) & (expert > 1))


def _sequence_for_experts(experts: Int, tensor: Int, sequence: Int) -> Truth:
    """Experts under tensor parallelism run only on a split sequence (megatron/core/transformer/moe/moe_layer.py)."""
    return (experts > 0) & (tensor > 1) & (sequence == 0)


def _stages(layers: Int, extra_layers: Int, first: Int, last: Int, pipeline: Int) -> Truth:
    """An even split; a split with fixed end ranks is `_middle`'s concern."""
    return (first + last == 0) & ((layers + extra_layers) % pipeline != 0)


def _middle(layers: Int, first: Int, last: Int, pipeline: Int) -> Truth:
    """Fixed end ranks: what is left for the middle must be no layers on no ranks, or the same on each."""
    middle = layers - first - last
    ranks = pipeline - where(first > 0, 1, 0) - where(last > 0, 1, 0)
    uneven = where(ranks > 0, middle, 0) % where(ranks > 0, ranks, 1) != 0
    return (first + last > 0) & ((middle < 0) | (ranks < 0) | ((middle == 0) != (ranks == 0)) | uneven)


def _chunks(layers: Int, extra_layers: Int, first: Int, last: Int, pipeline: Int, virtual: Int) -> Truth:
    """Layers of a rank that its chunks do not share evenly; ranks that are already uneven are not judged."""
    ends = where(first > 0, 1, 0) + where(last > 0, 1, 0)
    shared = layers + extra_layers - first - last
    ranks = where(pipeline > ends, pipeline - ends, 1)
    even = shared % ranks == 0
    return even & (((shared // ranks) % virtual != 0) | (first % virtual != 0) | (last % virtual != 0))


def _interleaving(virtual: Int, pipeline: Int) -> Truth:
    return (virtual > 1) & (pipeline == 1)


def _batch(global_batch: Int, micro: Int, data: Int) -> Truth:
    return global_batch % (micro * data) != 0


def _triad(global_batch: Int, micro: Int, accumulation: Int, data: Int) -> Truth:
    """Where the global batch divides, but the micro-batches are another number."""
    return (global_batch % (micro * data) == 0) & (global_batch != micro * accumulation * data)


def _group(interleaved: Int, pipeline: Int, group: Int, accumulation: Int) -> Truth:
    """Interleaving runs groups of g ≥ p micro-batches; what remains after whole groups must still fill the pipeline."""
    remainder = accumulation % group
    starved = (remainder > 0) & (remainder < pipeline)
    return (interleaved > 0) & ((group < pipeline) | (group > accumulation) | starved)


def sequence_divisor(tensor: Int, sequence: Int, context: Int) -> Int:
    """What the sequence length must be a multiple of: c·lcm(2, t) with context parallelism, else t.

    The tensor degree counts only with sequence parallelism; the 2 balances causal attention over context ranks.
    """
    shards = where(sequence, tensor, 1)
    return where(context > 1, context * lcm(2, shards), shards)


def _sequence(sequence_length: Int, tensor: Int, sequence: Int, context: Int) -> Truth:
    return sequence_length % sequence_divisor(tensor, sequence, context) != 0


def _sequence_alone(sequence: Int, tensor: Int) -> Truth:
    return (sequence > 0) & (tensor == 1)


def _positions(sequence_length: Int, max_positions: Int) -> Truth:
    return sequence_length > max_positions


def _nothing_to_shard(sharding_stage: Int, data: Int, context: Int) -> Truth:
    return (sharding_stage > 0) & (data * context == 1)


def _paired(directions: Int, pipeline: Int, accumulation: Int) -> Truth:
    """Forwards and backwards run in pairs once 2p micro-batches fill the pipeline; two directions share them."""
    odd = (directions > 1) & ((pipeline % 2 != 0) | (accumulation % 2 != 0))
    return (directions > 0) & ((accumulation < 2 * pipeline) | odd)


def _shards(shards: Int, data: Int, context: Int) -> Truth:
    """Copies of what is sharded that do not come out even, and shards that context ranks do not share evenly."""
    return ((data * context) % shards != 0) | ((shards > 1) & (shards % context != 0))


def _full_pipeline(pipeline: Int, accumulation: Int) -> Truth:
    return (pipeline > 1) & (accumulation < pipeline)


def _zero_pipeline(sharding_stage: Int, pipeline: Int) -> Truth:
    return (sharding_stage > 1) & (pipeline > 1)


WORLD_SIZE = _rule(
    "M1",
    "world_size_not_divisible",
    "E",
    "the number of GPUs is a multiple of tensor x pipeline x context",
    _world,
)
MEGATRON: tuple[Rule, ...] = (
    WORLD_SIZE,
    _rule("M1", "world_size_mismatch", "E", "the number of GPUs is tensor x pipeline x context x data", _data),
    _rule(
        "M2",
        "expert_grid_not_divisible",
        "E",
        "the number of GPUs is a multiple of expert tensor x expert x pipeline",
        _expert_grid,
    ),
    _rule("M3", "heads_tp", "E", "the query heads are a multiple of the tensor degree", _heads),
    _rule(
        "M4",
        "kv_heads_tp",
        "E",
        "the key/value heads are a multiple of the tensor degree, or it is a multiple of them",
        _kv_heads,
    ),
    _rule(
        "M26",
        "linear_heads_tp",
        "E",
        "the key and the value heads of linear attention are multiples of tensor x context",
        _linear_heads,
    ),
    _rule("M5", "experts_not_divisible", "E", "the experts are a multiple of the expert degree", _experts),
    _rule(
        "M24",
        "experts_need_sequence",
        "R",
        "a model with experts trains with sequence parallelism at a tensor degree above 1",
        _sequence_for_experts,
    ),
    _rule(
        "M6",
        "layers_not_divisible",
        "E",
        "the layers (with embedding and loss where they count) are a multiple of the pipeline degree",
        _stages,
    ),
    _rule(
        "M10",
        "uneven_stages",
        "E",
        "the layers that fixed end stages leave over are shared evenly by the middle stages",
        _middle,
    ),
    _rule("M7", "vpp_remainder", "E", "the layers of a stage are a multiple of its chunks", _chunks),
    _rule(
        "M9", "interleaving_without_pipeline", "E", "several chunks on a rank need more than one rank", _interleaving
    ),
    _rule("M12", "batch_triad", "E", "the global batch is a multiple of micro-batch x data", _batch),
    _rule("M12", "batch_triad", "E", "the global batch is micro-batch x accumulation x data", _triad),
    _rule(
        "M13",
        "micro_batches_too_few",
        "R",
        "interleaving runs micro-batches in groups of at least the pipeline degree, and what whole groups leave over "
        "fills the pipeline too",
        _group,
    ),
    _rule(
        "M14",
        "seq_divisor",
        "E",
        "the sequence length is a multiple of tensor (with sequence parallelism) and of 2 x context (when above 1)",
        _sequence,
    ),
    _rule(
        "M25",
        "micro_batches_too_few",
        "E",
        "dualpipe and dualpipev run at least twice as many micro-batches as ranks, dualpipe an even number of both",
        _paired,
    ),
    _rule("M17", "sequence_too_long", "E", "the sequence length is at most the number of positions", _positions),
    _rule("M16", "ignored_option", "W", "sequence parallelism needs a tensor degree above 1", _sequence_alone),
    _rule("D7", "ignored_option", "W", "sharding needs more than one data x context rank", _nothing_to_shard),
    _rule(
        "D8",
        "sharding_degree",
        "E",
        "the data x context ranks are a multiple of the sharding degree, and it is a multiple of the context degree",
        _shards,
    ),
)
"""Every rule on numbers, in the order in which a search counts a layout that breaks several."""

_KV_HEADS_WHOLE = _rule(
    "T2", "kv_heads_tp", "R", "the key/value heads are a multiple of the tensor degree", _kv_heads_whole
)
_FULL_PIPELINE = _rule(
    "T6", "micro_batches_too_few", "R", "there are at least as many micro-batches as pipeline stages", _full_pipeline
)
_ZERO_PIPELINE = _rule(
    "D7",
    "zero_with_pipeline",
    "E",
    "gradients and weights are not sharded beside pipeline parallelism",
    _zero_pipeline,
)

GENERAL: tuple[Rule, ...] = tuple(each for each in MEGATRON if each.number in {"M1", "M12", "M25", "D8"})
"""The rules that are arithmetic and hold for every framework."""


def broken_rules(facts: Facts, rules: Iterable[Rule] = MEGATRON) -> list[Rule]:
    """Every rule that one job breaks, as far as it is known."""
    known = complete(facts)
    return [rule for rule in rules if rule.broken(known)]


def violations(model: Model, layout: Layout, rules: Iterable[Rule] = MEGATRON) -> list[Rule]:
    """Every rule that one layout of a model breaks."""
    return broken_rules(facts_of(model, layout), rules)


def _of_megatron(*left_out: str) -> tuple[Rule, ...]:
    return tuple(each for each in MEGATRON if each.number not in left_out)


BY_FRAMEWORK: Mapping[str, tuple[Rule, ...]] = MappingProxyType(
    {
        "megatron-core": (*MEGATRON, _ZERO_PIPELINE),
        "nanotron": MEGATRON,
        "deepspeed": (*_of_megatron("M13"), _ZERO_PIPELINE),
        "fsdp2": (*_of_megatron("M4", "M13"), _KV_HEADS_WHOLE, _FULL_PIPELINE),
    }
)
"""The rules that a search of a framework's layouts applies: Megatron-DeepSpeed has Megatron's layers and DeepSpeed's
engine (deepspeed/runtime/engine.py); torchtitan splits heads as DTensor does, and its schedules need a full pipeline
(torchtitan/distributed/pipeline_parallel.py). Megatron-FSDP is itemised without a pipeline only. Elsewhere the general
ones do."""


def rules_of(framework: str) -> tuple[Rule, ...]:
    """The rules on a framework's layouts, in the order in which a search counts them."""
    return BY_FRAMEWORK.get(framework, GENERAL)
