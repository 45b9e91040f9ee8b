"""Timed runs of one small Megatron job, for tests."""

from typing import Any

from tests.usecases.measured import JOB


def timed(**changes: Any) -> dict[str, Any]:
    """A run of half a second a step."""
    row = {
        "id": "small",
        "group": "example/small",
        "family": "example",
        "job": JOB,
        "device": "h100-sxm-80gb",
        "gpus_per_node": 8,
        "measured": {"step_seconds": 0.5},
        "oom": False,
        "source": "a test",
        "assumed": [],
    }
    return {**row, **changes}


def with_pipeline(pipeline: int) -> dict[str, Any]:
    """The job with another pipeline degree."""
    return {**JOB, "parallelism": {"pipeline": pipeline}}
