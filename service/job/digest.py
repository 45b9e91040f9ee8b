"""A digest that is the same for the same question, whatever the order of its keys."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from service.job.schema import Job

_NOTHING: Final[tuple[Any, ...]] = ([], {})
_NOWHERE_UNLESS_SET: Final = frozenset({"offload", "parameter_offload"})
_OFF_UNLESS_SET: Final = frozenset(
    {
        "async_tensor",
        "delay_weight_gradient",
        "deterministic",
        "distribute_saved",
        "expandable_segments",
        "in_backward",
        "logits_kept",
        "momentum",
        "no_sync",
        "overlap_expert",
        "overlap_grad_reduce",
        "overlap_param_gather",
        "softmax_fp32",
    }
)
"""Flags that are off where a job with its defaults written out does not have them."""


def identity(job: Job) -> dict[str, Any]:
    """Return a job, its defaults written out, as a document that is equal for equal jobs.

    A preset is its dimensions, experts are as wide as a dense layer unless said otherwise, and what says that something
    is not used is left out, as where nobody says it.
    """
    document = job.model_dump(mode="json", by_alias=True, exclude_none=True)
    model = document["model"]
    model.pop("preset", None)
    if model.get("moe_intermediate_size") == model.get("intermediate_size"):
        model.pop("moe_intermediate_size", None)
    return _without_unused(document)


def _without_unused(node: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: _without_unused(each) if isinstance(each, dict) else each for name, each in node.items()}
    return {name: each for name, each in kept.items() if each not in _NOTHING and not _is_unused(name, each)}


def _is_unused(name: str, value: Any) -> bool:
    return (value is False and name in _OFF_UNLESS_SET) or (value == "none" and name in _NOWHERE_UNLESS_SET)


def digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON (sorted keys, no spaces), as `sha256:` and 64 hexadecimal digits."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
