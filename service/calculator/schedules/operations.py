"""One operation of a pipeline rank."""

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What an operation computes for one chunk and one micro-batch."""

    FORWARD = "F"
    INPUT_GRADIENT = "B"
    WEIGHT_GRADIENT = "W"
    BACKWARD = "BW"
    """Both gradients at once."""


class Operation(NamedTuple):
    """An operation on local chunk `chunk`; micro-batches are numbered from 0, under `dualpipe` in each direction."""

    kind: Kind
    chunk: int
    micro_batch: int
