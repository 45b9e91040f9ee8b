"""Nearest valid values: the rules themselves are asked about every value around the one given."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from service.calculator.validity import Facts, Rule, complete
from service.job.validate.facts import POINTERS

REACH = 8192
"""Values looked at on either side of the one given."""

MOST = 6
"""Fixes named for one finding."""

ADJUSTABLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "world_size_not_divisible": ("world_size", "pipeline", "tensor", "context"),
        "world_size_mismatch": ("data", "world_size"),
        "expert_grid_not_divisible": ("expert_tensor", "expert", "world_size"),
        "heads_tp": ("tensor",),
        "kv_heads_tp": ("tensor",),
        "linear_heads_tp": ("tensor", "context"),
        "experts_not_divisible": ("expert",),
        "layers_not_divisible": ("pipeline",),
        "uneven_stages": ("first", "last", "pipeline"),
        "vpp_remainder": ("virtual",),
        "interleaving_without_pipeline": ("virtual", "pipeline"),
        "batch_triad": ("global_batch", "micro", "accumulation"),
        "micro_batches_too_few": ("global_batch", "micro", "group"),
        "seq_divisor": ("sequence_length", "context", "tensor"),
        "sequence_too_long": ("sequence_length", "max_positions"),
        "sharding_degree": ("shards",),
    }
)
"""What may be changed to satisfy a rule, cheapest change first; the model's shape is never changed."""

SWITCHES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "M16": ("parallelism.sequence: false",),
        "M24": ("parallelism.sequence: true", "parallelism.tensor: 1"),
        "D7": ("sharding.stage: 0",),
    }
)
"""Fixes of options that have no effect where they are set, or are missing where they are needed."""


def nearest_fixes(rule: Rule, stated: Facts, rules: Sequence[Rule]) -> tuple[str, ...]:
    """Single changes, each to the nearest value below or above that satisfies the rule.

    Best is a value that satisfies every rule, then one that breaks no further rule, then one that satisfies this rule.
    """
    if rule.number in SWITCHES:
        return SWITCHES[rule.number]
    known = complete(stated)
    refusing = [each for each in rules if each.kind != "W"]
    kept = [each for each in refusing if not each.broken(known)]
    for others in (refusing, kept, ()):
        found = [fix for name in ADJUSTABLE[rule.code] for fix in _around(name, rule, stated, others)]
        if found:
            break
    return (*found[:MOST], *_even_ends(rule, stated))


def _around(name: str, rule: Rule, stated: Facts, others: Iterable[Rule]) -> list[str]:
    value = getattr(complete(stated), name)
    if value is None:
        return []
    tried = np.arange(max(1, value - REACH), value + REACH + 1, dtype=np.int64)
    facts = complete(replace(_loosened(stated, rule), **{name: tried}))
    good = np.ones(tried.shape, dtype=np.bool_)
    for each in (rule, *others):
        broken = each.broken(facts)
        if broken is not None:
            good &= np.logical_not(broken)
    dotted = POINTERS[name].strip("/").replace("/", ".")
    return [f"{dotted}: {each}" for each in (*tried[good & (tried < value)][-1:], *tried[good & (tried > value)][:1])]


def _loosened(stated: Facts, rule: Rule) -> Facts:
    """The facts without those that follow from others, so that they follow from a changed value again.

    What the rule compares with its stated value is kept.
    """
    compared = set(rule.needs)
    if stated.world_size is not None and not compared >= {"world_size", "data"}:
        stated = replace(stated, data=None)
    if stated.global_batch is not None and not compared >= {"global_batch", "accumulation"}:
        stated = replace(stated, accumulation=None)
    return replace(stated, group=None) if stated.group == stated.pipeline else stated


def _even_ends(rule: Rule, stated: Facts) -> tuple[str, ...]:
    """For layers that no even split fits: fewer layers on both end stages, the rest shared by the middle.

    The last stage, which also has the head, gets no more than the first.
    """
    layers, stages = stated.layers, stated.pipeline
    if rule.code != "layers_not_divisible" or not isinstance(layers, int) or not isinstance(stages, int):
        return ()
    chunks = stated.virtual if isinstance(stated.virtual, int) else 1
    for middle in range(layers // stages + 1, 0, -1):
        ends = layers - middle * (stages - 2)
        last = ends // (2 * chunks) * chunks
        if stages > 2 and middle % chunks == ends % chunks == 0 and 0 < last <= ends - last <= middle:  # noqa: PLR2004
            return (f"stages.first: {ends - last}, stages.last: {last}",)
    return ()
