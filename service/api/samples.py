"""Calls of every operation by curl, for the documentation: each works as pasted against a fresh service.

What an operation needs is made first, so that a sample depends on nothing that was done before.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from service.api.schemas.examples import (
    COMPARISONS,
    DEVICES,
    ESTIMATES,
    IMPORTS,
    KEEPING,
    OBSERVATIONS,
    OPEN_JOB,
    POLICIES,
    VERDICTS,
)

SERVICE: Final = "http://127.0.0.1:8000"

_PLAN: Final = {
    "job": OPEN_JOB,
    "cluster": {"device": "h100-sxm-80gb", "world_size": 16},
    "search": {"tensor": [2, 4, 8], "context": [1]},
    "top": 3,
}


def _send(path: str, value: Any, options: str = "") -> str:
    # Some shells take a question mark for a pattern.
    address = f"'{SERVICE}{path}'" if "?" in path else f"{SERVICE}{path}"
    body = json.dumps(value, indent=2).replace("'", "'\\''")
    return f"curl -sS {options}{address} -H 'Content-Type: application/json' -d '{body}'"


def _first(examples: Mapping[str, Any]) -> Any:
    return next(iter(examples.values()))["value"]


def _made(name: str, path: str, value: Any) -> str:
    """What makes a thing and keeps where it is in a variable."""
    call = _send(path, value, "-o /dev/null -w '%header{location}' ")
    return f"{name}=$({call})"


_MADE_PLAN: Final = _made("PLAN", "/v1/plans", _PLAN)
_MADE_COMPARISON: Final = _made("COMPARISON", "/v1/comparisons", _first(COMPARISONS))
_MADE_OBSERVATION: Final = _made("OBSERVATION", "/v1/observations", _first(OBSERVATIONS))
_BEGUN: Final = _made("OPERATION", "/v1/plans?wait=0", {**_PLAN, "labels": {"sample": "operation"}})
_MADE_DEVICE: Final = _send("/v1/devices/h100-sxm-80gb", _first(DEVICES), "-o /dev/null -X PUT ")
_MADE_POLICY: Final = _send("/v1/policies/research", _first(POLICIES), "-o /dev/null -X PUT ")

SAMPLES: Final[Mapping[str, str]] = {
    "create_estimate": _send("/v1/estimates", _first(ESTIMATES)),
    "create_verdicts": _send("/v1/verdicts?timeout=2s", _first(VERDICTS)),
    "create_import": _send("/v1/imports", _first(IMPORTS)),
    "create_plan": _send("/v1/plans", _PLAN, '-i -H "Idempotency-Key: $(date +%s)" '),
    "list_plans": f"{_MADE_PLAN}\ncurl -sS '{SERVICE}/v1/plans?device=h100-sxm-80gb&limit=10'",
    "get_plan": f'{_MADE_PLAN}\ncurl -sS "{SERVICE}$PLAN"',
    "keep_plan": f"{_MADE_PLAN}\n" + _send("$PLAN", _first(KEEPING), "-X PATCH "),
    "delete_plan": f'{_MADE_PLAN}\ncurl -sS -i -X DELETE "{SERVICE}$PLAN"',
    "export_plan": f'{_MADE_PLAN}\ncurl -sS "{SERVICE}$PLAN/exports/megatron?candidate=0"',
    "create_comparison": _send("/v1/comparisons", _first(COMPARISONS)),
    "list_comparisons": f"{_MADE_COMPARISON}\ncurl -sS '{SERVICE}/v1/comparisons?limit=10'",
    "get_comparison": f'{_MADE_COMPARISON}\ncurl -sS "{SERVICE}$COMPARISON"',
    "create_observation": _send("/v1/observations", _first(OBSERVATIONS)),
    "list_observations": f"{_MADE_OBSERVATION}\ncurl -sS '{SERVICE}/v1/observations?limit=10'",
    "get_observation": f'{_MADE_OBSERVATION}\ncurl -sS "{SERVICE}$OBSERVATION"',
    "delete_observation": f'{_MADE_OBSERVATION}\ncurl -sS -i -X DELETE "{SERVICE}$OBSERVATION"',
    "get_operation": f'{_BEGUN}\ncurl -sS "{SERVICE}$OPERATION"',
    "follow_operation": f'{_BEGUN}\ncurl -sS -N "{SERVICE}$OPERATION/events"',
    "cancel_operation": f'{_BEGUN}\ncurl -sS -X POST "{SERVICE}$OPERATION/cancel"',
    "list_calibrations": f"{_MADE_OBSERVATION}\ncurl -sS {SERVICE}/v1/calibrations",
    "list_devices": f"curl -sS {SERVICE}/v1/devices",
    "get_device": f"curl -sS {SERVICE}/v1/devices/h100-sxm-80gb",
    "put_device": _send("/v1/devices/h100-sxm-80gb", _first(DEVICES), "-X PUT "),
    "delete_device": f"{_MADE_DEVICE}\ncurl -sS -i -X DELETE {SERVICE}/v1/devices/h100-sxm-80gb",
    "list_models": f"curl -sS {SERVICE}/v1/models",
    "list_policies": f"curl -sS {SERVICE}/v1/policies",
    "get_policy": f"{_MADE_POLICY}\ncurl -sS {SERVICE}/v1/policies/research",
    "put_policy": _send("/v1/policies/research", _first(POLICIES), "-X PUT "),
    "delete_policy": f"{_MADE_POLICY}\ncurl -sS -i -X DELETE {SERVICE}/v1/policies/research",
    "list_refusals": f"{_MADE_POLICY}\ncurl -sS '{SERVICE}/v1/policies/research/refusals?limit=10'",
    "get_policy_summary": f"{_MADE_POLICY}\ncurl -sS '{SERVICE}/v1/policies/research/summary?days=7'",
    "get_liveness": f"curl -sS {SERVICE}/livez",
    "get_readiness": f"curl -sS {SERVICE}/readyz",
    "get_metrics": f"curl -sS {SERVICE}/metrics",
}
"""A sample for each operation, by its operationId."""
