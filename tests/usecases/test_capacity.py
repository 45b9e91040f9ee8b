"""What an estimate's peak, its moments of loading and its offload are called on a device."""

from dataclasses import replace
from typing import Any

import pytest

from service.calculator.ledger import Moment
from service.catalog.devices import Device
from service.job.diagnostics import Diagnostic
from service.job.schema import Job
from service.usecases.capacity import estimate_findings, peak_findings
from service.usecases.devices import device_of
from service.usecases.estimates import EstimateAnswer, estimate_job

GIB = 1 << 30
JOB: dict[str, Any] = {
    "model": {"preset": "llama-3-8b"},
    "framework": {"name": "megatron-core"},
    "world_size": 64,
    "parallelism": {"tensor": 2, "sequence": True},
    "sharding": {"stage": 1},
    "batch": {"micro": 1, "global": 256, "sequence_length": 4096},
    "kernels": {"attention": "flash"},
    "dropout": {"hidden": 0.0, "attention": 0.0},
}


def answered(device: str = "h100-sxm-80gb", **changes: Any) -> EstimateAnswer:
    return estimate_job(Job.model_validate(JOB | changes), device)


def found(answer: EstimateAnswer) -> dict[str, Diagnostic]:
    return {each.code: each for each in answer.resolved.findings.diagnostics}


def card(usable_gib: float) -> Device:
    return replace(device_of("h100-sxm-80gb", "/device"), total_bytes=80 * GIB, usable_bytes=int(usable_gib * GIB))


def codes(expected_gib: float, high_gib: float, usable_gib: float = 79.0) -> list[str]:
    return [each.code for each in peak_findings(0, int(expected_gib * GIB), int(high_gib * GIB), card(usable_gib))]


@pytest.mark.parametrize(
    ("expected", "high", "said"),
    [
        (60.0, 70.0, []),
        (69.0, 79.5, ["fits_tight"]),
        (70.5, 72.0, ["fits_tight"]),
        (79.5, 85.0, ["does_not_fit"]),
    ],
)
def test_a_peak_is_tight_where_its_margin_is_not_proven_or_runs_slow_down(
    expected: float, high: float, said: list[str]
) -> None:
    """79 GiB are usable of 80; 88 % of what the driver shows are 70.4."""
    assert codes(expected, high) == said


def test_a_tight_fit_says_margin_and_uncertainty() -> None:
    (tight,) = peak_findings(0, 68 * GIB, 80 * GIB, card(79))
    assert tight.severity == "warning"
    assert tight.message == "margin 11.0 GiB is below the model's uncertainty of 12.0 GiB: treat as not proven"


def test_what_does_not_fit_names_its_largest_lines() -> None:
    answer = answered("rtx-4090")
    said = found(answer)["does_not_fit"]
    assert answer.verdict == "does_not_fit"
    assert said.severity == "warning"
    assert said.message.startswith("stage 0 needs ")
    assert "largest lines: weights" in said.message or "largest lines: gradients" in said.message
    assert said.message.count(",") == 3


def test_the_codes_agree_with_the_verdict() -> None:
    verdicts = {"fits": set(), "tight": {"fits_tight"}, "does_not_fit": {"does_not_fit"}}
    for device in ("h100-sxm-80gb", "a100-sxm-40gb", "rtx-4090", "h200-sxm-141gb", "b200-sxm-180gb"):
        answer = answered(device)
        assert set(found(answer)) & {"fits_tight", "does_not_fit"} == verdicts[answer.verdict]


def test_loading_that_needs_more_than_any_step_is_said_with_the_difference() -> None:
    """Megatron makes its buffers beside the weights; over many ranks, with little activation, that is the most."""
    short = {"micro": 1, "global": 256, "sequence_length": 128}
    answer = answered(batch=short)
    said, peak = found(answer)["load_peak"], answer.estimate.peak
    assert peak.moment == "initialization"
    step = max(each.device_bytes for each in answer.estimate.stages)
    assert said.message == f"building the model needs {(peak.device_bytes - step) / GIB:.1f} GiB more than any step"
    assert said.severity == "info"


def test_loading_that_alone_does_not_fit_is_a_warning() -> None:
    answer = answered(batch={"micro": 1, "global": 256, "sequence_length": 128})
    step = max(each.device_bytes for each in answer.estimate.stages)
    between = replace(answer.device, usable_bytes=step + 1)
    (said,) = (
        each for each in estimate_findings(answer.estimate, answer.interval, between) if each.code == "load_peak"
    )
    assert said.severity == "warning"
    assert said.message.startswith("the steady state fits, building the model needs ")


def test_resuming_that_needs_more_than_any_step_is_said_apart_from_building() -> None:
    answer = answered("h200-sxm-141gb")
    (stage,) = answer.estimate.stages
    resuming = {**stage.moments, Moment.CHECKPOINT_RESUME: stage.device_bytes + 3 * GIB}
    grown = replace(answer.estimate, stages=(replace(stage, moments=resuming),))
    codes = {each.code: each for each in estimate_findings(grown, answer.interval, answer.device)}
    assert codes["resume_peak"].message == "loading a checkpoint needs 3.0 GiB more than any step"
    assert "load_peak" not in codes


def test_what_is_offloaded_is_said_in_bytes_of_host_memory() -> None:
    answer = answered(optimizer={"offload": "cpu"})
    said = found(answer)["host_memory"]
    assert said.found == str(answer.estimate.host_bytes_per_node)
    assert f"{answer.estimate.host_bytes_per_node / GIB:.1f} GiB of host memory" in said.message


def test_a_job_with_room_and_without_offload_has_none_of_them() -> None:
    quiet = {"fits_tight", "does_not_fit", "host_memory", "load_peak", "resume_peak"}
    assert not quiet & set(found(answered("h200-sxm-141gb")))
