"""Jobs that the tests ask about."""

from typing import Any

JOB: dict[str, Any] = {
    "model": {"preset": "llama-3-8b"},
    "framework": {"name": "megatron-core"},
    "world_size": 64,
    "parallelism": {"tensor": 8, "sequence": True, "pipeline": 2},
    "sharding": {"stage": 1},
    "batch": {"micro": 1, "global": 512, "sequence_length": 8192},
    "kernels": {"attention": "flash"},
    "dropout": {"hidden": 0.0, "attention": 0.0},
}

DEVICE = "h100-sxm-80gb"

FEW: dict[str, Any] = {"tensor": [4, 8], "pipeline": [1], "context": [1], "checkpointing": ["none"]}
"""Limits of a search that is over at once."""
SOME: dict[str, Any] = {"context": [1], "tensor": [8]}
"""Limits of a search that takes a moment."""


def open_job(sequence_length: int) -> dict[str, Any]:
    """A job that leaves its layout to a search; with another length it is another question."""
    kept = {key: value for key, value in JOB.items() if key not in {"world_size", "parallelism", "sharding"}}
    return {**kept, "batch": {"global": 512, "sequence_length": sequence_length}}
