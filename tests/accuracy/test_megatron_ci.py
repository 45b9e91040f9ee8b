"""Measured against predicted: the peaks that Megatron-LM's CI recorded for dense models."""

import json
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import pytest

from service.calculator.estimate import estimate
from service.catalog.devices import load_devices
from service.job.resolve import resolve
from service.job.schema import Job

ROWS = Path(__file__).parents[1] / "data" / "megatron_ci_dense.jsonl"


def relative_error(row: dict[str, Any]) -> float:
    """Predicted over measured allocated bytes of the stage that was measured, less one."""
    resolved = resolve(Job.model_validate(row["job"]))
    # Rows that name no GPU come from the A100 runs of the LTS container.
    accelerator = load_devices()[row["device"] or "a100-sxm-80gb"].accelerator()
    found = estimate(resolved.model, resolved.layout, resolved.recipe, accelerator)
    measured = row["measured"]
    return found.stages[measured["stage"]].allocated_bytes / measured["bytes"] - 1


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in ROWS.read_text("utf-8").splitlines()]


def test_rows_that_state_their_attention_backend(rows: list[dict[str, Any]]) -> None:
    stated = [row for row in rows if row["job"]["kernels"]["attention"] != "auto"]
    errors = sorted(abs(relative_error(row)) for row in stated)
    assert len(errors) >= 100
    assert median(errors) <= 0.007
    assert quantiles(errors, n=20)[-1] <= 0.03


def test_rows_of_every_backend(rows: list[dict[str, Any]]) -> None:
    """Automatic attention of the older container stored its scores in some runs, which no key of the job tells."""
    errors = [abs(relative_error(row)) for row in rows]
    assert median(errors) <= 0.02


def test_seven_billion_parameters_at_eight_thousand_tokens(rows: list[dict[str, Any]]) -> None:
    large = [row for row in rows if "7b-tp4-pp1-memory-speed" in row["id"]]
    assert len(large) >= 3
    assert all(abs(relative_error(row)) <= 0.001 for row in large)
