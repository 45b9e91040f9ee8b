"""Questions that tests start from."""

from copy import deepcopy
from typing import Any

from service.api.schemas.examples import JOB, MEGATRON_SCRIPT, OPEN_JOB

DEVICE = "h100-sxm-80gb"


def job(**changes: Any) -> dict[str, Any]:
    """Llama-3-8B on 64 GPUs, with sections changed: `job(parallelism={"tensor": 4})` changes one value of a section."""
    return _changed(JOB, changes)


def open_job(**changes: Any) -> dict[str, Any]:
    """Llama-3-8B with its layout open."""
    return _changed(OPEN_JOB, changes)


def estimate(**changes: Any) -> dict[str, Any]:
    return {"job": job(**changes), "device": DEVICE}


def plan(**changes: Any) -> dict[str, Any]:
    """A search of a few hundred layouts."""
    question = {
        "job": open_job(),
        "cluster": {"device": DEVICE, "world_size": 16, "gpus_per_node": 8},
        "search": {"context": [1], "micro": [1], "virtual_pipeline": [1], "checkpointing": ["none"]},
    }
    return _changed(question, changes)


def script(**changes: Any) -> dict[str, Any]:
    """The same job as a Megatron-LM launch script."""
    return {**MEGATRON_SCRIPT, **changes}


def _changed(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    found = deepcopy(document)
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            found[key] = {**found[key], **value}
        else:
            found[key] = value
    return found
