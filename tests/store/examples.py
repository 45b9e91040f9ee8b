"""A plan to store, with what a test says about it changed."""

from typing import Any
from uuid import uuid4

from service.store.plans import NewPlan


def a_plan(**changes: Any) -> NewPlan:
    facts: dict[str, Any] = {
        "digest": f"sha256:{uuid4().hex}",
        "model": "llama-3-8b",
        "device": "h100-sxm-80gb",
        "world_size": 64,
        "verdict": "fits",
        "best_step_seconds": 2.5,
        "peak_device_bytes": 65_000_000_000,
        "labels": {},
        "schema_version": 1,
        "method_version": "1",
        "request": {"cluster": {"world_size": 64}},
        "answer": {"candidates": []},
    }
    return NewPlan(**(facts | changes))
