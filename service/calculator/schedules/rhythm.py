"""The rhythm that all looped schedules share: warm-up, one forward one backward, cool-down.

A rank runs `warmup` forwards, then alternates one forward and one backward until the forwards are spent, then runs the
remaining backwards. Where a backward is split into input and weight gradients, the weight gradient follows when
`weight_delay` more backwards have run. Forwards go through the chunks in groups of micro-batches, backwards through the
chunks in reverse. Sources: memory_model.md 5; megatron/core/pipeline_parallel/schedules.py;
torch/distributed/pipelining/schedules.py; Qi et al. 2023 (arXiv 2401.10241) for the zero-bubble schedules.
"""

from dataclasses import dataclass

from service.calculator.schedules.schedule import Schedule
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
    behind = schedule.pipeline - stage - 1
    earlier_chunks = (schedule.virtual - 1) * schedule.group_size
    match schedule.name:
        case "gpipe" | "looped_bfs":
            everything = schedule.micro_batches * schedule.virtual
            return Rhythm(everything, 0, schedule.micro_batches)
        case "1f1b":
            return Rhythm(behind, 0, schedule.group_size)
        case "interleaved":
            return Rhythm(2 * behind + earlier_chunks + schedule.overlap_expert, 0, schedule.group_size)
        case "interleaved_zb":
            return Rhythm(behind + earlier_chunks, stage, schedule.group_size)
        case "zb_h1":
            return Rhythm(behind, stage, schedule.group_size)
        case "zb_h2":
            return Rhythm(2 * behind, 2 * stage, schedule.group_size)
        case _:
            raise ValueError(f"{schedule.name} is not a looped schedule")
