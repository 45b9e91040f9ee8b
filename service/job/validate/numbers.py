"""Findings about degrees, batches and layers: the calculator's rules, with messages and nearest valid values."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from service.calculator.validity import GENERAL, MEGATRON, Facts, Rule, broken_rules, complete, sequence_divisor
from service.job.diagnostics import Diagnostic
from service.job.schema import Job
from service.job.validate.facts import SPLITS, pointers, stated_facts
from service.job.validate.fixes import nearest_fixes

Values = Mapping[str, int]


def number_findings(job: Job) -> list[Diagnostic]:
    """Every rule on numbers that the job breaks."""
    rules = MEGATRON if job.framework.name == "megatron-core" else GENERAL
    stated = stated_facts(job)
    known = complete(stated)
    return [_finding(rule, known, nearest_fixes(rule, stated, rules)) for rule in broken_rules(stated, rules)]


def _finding(rule: Rule, facts: Facts, fixes: tuple[str, ...]) -> Diagnostic:
    values = {name: int(getattr(facts, name)) for name in rule.needs}
    return Diagnostic(
        code=rule.code,
        severity="warning" if rule.kind == "W" else "error",
        message=_MESSAGES[rule.number, rule.code](values),
        fields=pointers(rule.needs, facts),
        found=", ".join(_found(values)),
        rule=rule.statement,
        fixes=fixes,
    )


def _found(values: Values) -> Iterator[str]:
    for name, value in values.items():
        if name not in SPLITS or value:
            yield f"{name.replace('_', ' ')} {value}"


def _grid(v: Values) -> str:
    return f"tensor {v['tensor']} x pipeline {v['pipeline']} x context {v['context']}"


def _world(v: Values) -> str:
    grid = v["tensor"] * v["pipeline"] * v["context"]
    return f"world size {v['world_size']} is not a multiple of {_grid(v)} = {grid}"


def _data(v: Values) -> str:
    grid = v["tensor"] * v["pipeline"] * v["context"] * v["data"]
    return f"{_grid(v)} x data {v['data']} = {grid}, but the world size is {v['world_size']}"


def _expert_grid(v: Values) -> str:
    grid = v["expert_tensor"] * v["expert"] * v["pipeline"]
    inherited = " (that of the dense layers)" if v["expert_tensor"] == v["tensor"] else ""
    return (
        f"expert tensor {v['expert_tensor']}{inherited} x expert {v['expert']} x pipeline {v['pipeline']} = {grid} "
        f"does not divide world size {v['world_size']}"
    )


def _experts(v: Values) -> str:
    if v["experts"] == 0:
        return f"expert degree {v['expert']} needs a model with experts"
    return f"{v['experts']} experts cannot be shared by expert degree {v['expert']}"


def _layers(v: Values) -> str:
    extra = f" and {v['extra_layers']} counted for embedding and loss" if v["extra_layers"] else ""
    return (
        f"{v['layers']} layers{extra} cannot be shared evenly by {v['pipeline']} stages; "
        "some releases would silently build fewer layers"
    )


def _uneven(v: Values) -> str:
    ends = " and ".join(f"{v[end]} on the {end} stage" for end in ("first", "last") if v[end])
    ranks = v["pipeline"] - (v["first"] > 0) - (v["last"] > 0)
    left = v["layers"] - v["first"] - v["last"]
    return f"with {ends}, {left} of {v['layers']} layers are left for {ranks} stages in between"


def _chunks(v: Values) -> str:
    ends = [v[end] for end in ("first", "last") if v[end]]
    ranks = max(v["pipeline"] - len(ends), 1)
    per_stage = sorted({(v["layers"] + v["extra_layers"] - sum(ends)) // ranks, *ends} - {0})
    return f"{' or '.join(map(str, per_stage))} layers per stage cannot be cut into {v['virtual']} chunks"


def _group(v: Values) -> str:
    return (
        f"{v['accumulation']} micro-batches per step; interleaving over {v['pipeline']} stages needs a multiple of "
        f"{v['group']}"
    )


def _triad(v: Values) -> str:
    product = v["micro"] * v["accumulation"] * v["data"]
    return (
        f"{v['global_batch']} != micro {v['micro']} x accumulation {v['accumulation']} x data {v['data']} = {product}"
    )


def _batch(v: Values) -> str:
    step = v["micro"] * v["data"]
    return f"global batch {v['global_batch']} must be a multiple of micro {v['micro']} x data {v['data']} = {step}"


def _sequence(v: Values) -> str:
    divisor = sequence_divisor(v["tensor"], v["sequence"], v["context"])
    split = f"tensor {v['tensor']} with{'' if v['sequence'] else 'out'} sequence parallelism, context {v['context']}"
    return f"sequence length {v['sequence_length']} must be a multiple of {divisor} ({split})"


_MESSAGES: Mapping[tuple[str, str], Callable[[Values], str]] = MappingProxyType(
    {
        ("M1", "world_size_not_divisible"): _world,
        ("M1", "world_size_mismatch"): _data,
        ("M2", "expert_grid_not_divisible"): _expert_grid,
        ("M3", "heads_tp"): lambda v: f"{v['heads']} query heads cannot be shared by tensor degree {v['tensor']}",
        ("M4", "kv_heads_tp"): lambda v: (
            f"{v['kv_heads']} key/value heads, tensor degree {v['tensor']}: neither is a multiple of the other"
        ),
        ("M26", "linear_heads_tp"): lambda v: (
            f"heads of linear attention in multiples of {v['linear_heads']} cannot be shared by tensor {v['tensor']} x "
            f"context {v['context']}"
        ),
        ("M5", "experts_not_divisible"): _experts,
        ("M24", "experts_need_sequence"): lambda v: (
            f"{v['experts']} experts at tensor degree {v['tensor']} train only with sequence parallelism"
        ),
        ("M6", "layers_not_divisible"): _layers,
        ("M10", "uneven_stages"): _uneven,
        ("M7", "vpp_remainder"): _chunks,
        ("M9", "interleaving_without_pipeline"): lambda v: (
            f"{v['virtual']} chunks per rank with pipeline {v['pipeline']}: there is no other rank to interleave with"
        ),
        ("M12", "batch_triad"): lambda v: _triad(v) if "accumulation" in v else _batch(v),
        ("M13", "micro_batches_too_few"): _group,
        ("M14", "seq_divisor"): _sequence,
        ("M25", "micro_batches_too_few"): lambda v: (
            f"{v['accumulation']} micro-batches per step do not fill {v['pipeline']} stages that run them in pairs"
        ),
        ("D8", "sharding_degree"): lambda v: (
            f"sharding degree {v['shards']} does not share data {v['data']} x context {v['context']} ranks evenly"
        ),
        ("M17", "sequence_too_long"): lambda v: (
            f"sequence length {v['sequence_length']} is above the {v['max_positions']} positions of the model"
        ),
        ("M16", "ignored_option"): lambda _: "sequence parallelism has no effect at tensor degree 1",
        ("D7", "ignored_option"): lambda v: (
            f"sharding stage {v['sharding_stage']} saves nothing: data x context is 1, one rank to shard over"
        ),
    }
)
