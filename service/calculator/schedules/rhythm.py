"""The rhythm that all looped schedules share: warm-up, one forward one backward, cool-down.

A rank runs `warmup` forwards, then alternates one forward and one backward until the forwards are spent, then runs the
remaining backwards. Where a backward is split into input and weight gradients, the weight gradient follows when
`weight_delay` more backwards have run. Forwards go through the chunks in groups of micro-batches, backwards through the
chunks in reverse. Sources: memory_model.md 5; megatron/core/pipeline_parallel/schedules.py;
torch/distributed/pipelining/schedules.py; Qi et al. 2023 (arXiv 2401.10241) for the zero-bubble schedules.
"""

from dataclasses import dataclass

from service.calculator.schedules.schedule import Schedule, torch_group
from service.calculator.units import Int

SPLIT_BACKWARD = frozenset({"interleaved_zb", "zb_h1", "zb_h2"})
"""Looped schedules that run the weight gradients apart from the input gradients."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Forwards before the first backward (not capped by m), delay of the weight gradients, and group size."""

    warmup: Int
    weight_delay: Int
    group: Int


def rhythm_of(schedule: Schedule, stage: Int) -> Rhythm:
    """The rhythm of a looped schedule on one pipeline rank (0 … p-1)."""
    p, v, m = schedule.pipeline, schedule.virtual, schedule.micro_batches
    behind = p - stage - 1
    match schedule.name:
        case "gpipe" | "looped_bfs":
            return Rhythm(m * v, 0, m)
        case "1f1b":
            return Rhythm(behind, 0, 1)
        case "zb_h1":
            return Rhythm(behind, stage, 1)
        case "zb_h2":
            return Rhythm(2 * behind, 2 * stage, 1)
        case "interleaved_zb":
            group = torch_group(p, m)
            return Rhythm((v - 1) * group + behind, stage, group)
        case "interleaved":
            group = p if schedule.group is None else schedule.group
            return Rhythm((v - 1) * group + 2 * behind + schedule.overlap_expert, 0, group)
        case _:
            raise ValueError(f"{schedule.name} is not a looped schedule")
