"""The pipeline schedules that memplan knows, and one of them with its sizes."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from service.calculator.units import Int, maximum

CHUNKS: Mapping[str, int | None] = MappingProxyType(
    {
        "gpipe": 1,
        "1f1b": 1,
        "interleaved": None,
        "looped_bfs": None,
        "interleaved_zb": None,
        "zb_h1": 1,
        "zb_h2": 1,
        "zbv": 2,
        "v_half": 2,
        "v_min": 2,
        "dualpipe": 2,
        "dualpipev": 2,
    }
)
"""Model chunks that each rank holds, by schedule; None where the number is free."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A pipeline schedule over `pipeline` ranks with `virtual` model chunks each.

    `micro_batches` is m, per optimizer step and data-parallel rank; under `dualpipe` each direction runs half of them.
    `group` is the number of micro-batches that `interleaved` runs in a row on one chunk: Megatron allows p to m, and
    None is its default, p; torch's is `torch_group`. `interleaved_zb` exists in torch only and always has torch's.
    `overlap_expert` is Megatron's overlap of expert-parallel communication, one more warm-up forward of `interleaved`.
    Raises ValueError for an unknown name, or for a number of chunks that the schedule cannot have.
    """

    name: str
    pipeline: int
    virtual: int
    micro_batches: Int
    group: Int | None = None
    overlap_expert: bool = False

    def __post_init__(self) -> None:
        if self.name not in CHUNKS:
            raise ValueError(f"unknown schedule {self.name!r}; known are {', '.join(CHUNKS)}")
        if CHUNKS[self.name] not in {None, self.virtual}:
            raise ValueError(f"{self.name} has {CHUNKS[self.name]} chunks on each rank, not {self.virtual}")


def torch_group(pipeline: int, micro_batches: Int) -> Int:
    """Group size of torch's interleaved schedules, which split m into m // p equal rounds (pipelining/schedules.py)."""
    return micro_batches // maximum(1, micro_batches // pipeline)
