"""Make `service/calibration/residuals.jsonl` from the measured runs under `tests/data`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from service.calculator.estimate import estimate
from service.calibration.residuals import Residual, group_of
from service.catalog.devices import load_devices
from service.job.resolve import resolve
from service.job.schema import Job

DATA = Path(__file__).parents[1] / "data"
SHIPPED = Path(__file__).parents[2] / "service" / "calibration" / "residuals.jsonl"


def measured_rows() -> list[dict[str, Any]]:
    """Rows of every file of measured runs."""
    text = (DATA / "megatron_ci_dense.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def residual(row: dict[str, Any]) -> Residual:
    """Measured over predicted allocated bytes of the stage that was measured."""
    resolved = resolve(Job.model_validate(row["job"]))
    # Rows that name no GPU come from the A100 runs of the LTS container.
    accelerator = load_devices()[row["device"] or "a100-sxm-80gb"].accelerator()
    found = estimate(resolved.model, resolved.layout, resolved.recipe, accelerator)
    measured = row["measured"]
    ratio = measured["bytes"] / found.stages[measured["stage"]].allocated_bytes
    group = group_of(row["job"]["framework"]["name"], resolved.recipe.attention)
    return Residual(group, row["family"], measured["kind"], round(ratio, 6))


if __name__ == "__main__":
    found = [json.dumps(asdict(residual(row))) for row in measured_rows()]
    SHIPPED.write_text("\n".join(found) + "\n", "utf-8")
