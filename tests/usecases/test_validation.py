"""Measured against predicted: each row with its own kind of bytes on its own stage, or skipped with the reason."""

import io
from typing import Any

import pytest

from service.calculator.estimate import Estimate, estimate
from service.job.resolve import resolve
from service.job.schema import Job
from service.usecases.accuracy import grouped, skip_reasons, summary, worst_first, wrong_labels
from service.usecases.devices import accelerator_of, device_of
from service.usecases.measured_runs import read_runs
from service.usecases.validation import ASSUMED_DEVICE, Comparison, compare
from tests.usecases.measured import JOB, lines, run


def compared(*rows: Any) -> list[Comparison]:
    return compare(read_runs(io.BytesIO(lines(*rows))))


def one(row: dict[str, Any]) -> Comparison:
    [found] = compared(row)
    return found


def measured(kind: str, size: int | None = 4 << 30, **where: Any) -> dict[str, Any]:
    return run(measured={"kind": kind, "bytes": size, **where})


def predicted(device: str = "h100-sxm-80gb", job: dict[str, Any] = JOB) -> Estimate:
    resolved = resolve(Job.model_validate(job))
    return estimate(resolved.model, resolved.layout, resolved.recipe, accelerator_of(device_of(device, "")))


@pytest.mark.parametrize("kind", ["allocated", "reserved", "device"])
def test_a_row_is_compared_with_its_own_kind_on_the_worst_stage(kind: str) -> None:
    found = one(measured(kind))
    assert found.predicted_bytes == max(getattr(each, f"{kind}_bytes") for each in predicted().stages)
    assert found.measured_bytes == 4 << 30
    assert found.low_bytes is not None
    assert found.high_bytes is not None
    assert found.low_bytes <= found.predicted_bytes <= found.high_bytes


def test_what_nanotron_prints_as_allocated_is_what_it_reserves() -> None:
    """Its benchmark resets the allocated peak before it prints, so that only reserved bytes are a peak of the run."""
    job = {**JOB, "framework": {"name": "megatron-core", "version": "nanotron"}}
    found = one(run(job=job))
    assert found.kind == "reserved"
    assert found.predicted_bytes == max(each.reserved_bytes for each in predicted(job=job).stages)


def test_a_row_is_compared_on_the_stage_it_names() -> None:
    assert one(measured("allocated", stage=2)).predicted_bytes == predicted().stages[2].allocated_bytes


def test_every_stage_of_a_list_is_compared() -> None:
    found = one(run(measured={"kind": "allocated", "per_stage": [4 << 30, None, 3 << 30]}))
    assert [each.stage for each in found.stages] == [0, 2]
    assert [each.predicted_bytes for each in found.stages] == [predicted().stages[at].allocated_bytes for at in (0, 2)]
    assert found.measured_bytes == 4 << 30


def test_the_error_of_a_row_is_that_of_its_worst_stage() -> None:
    exact = [each.allocated_bytes for each in predicted().stages]
    found = one(run(measured={"kind": "allocated", "per_stage": [*exact[:3], 2 * exact[3]]}))
    assert found.error == pytest.approx(-0.5)


def test_the_first_iteration_has_no_moments_of_the_optimizer() -> None:
    """Stage 0 peaks in a pass: 8 bytes a parameter less (memory_model.md 9)."""
    later, first = one(measured("allocated", stage=0)), one(measured("allocated", stage=0, moment="first_iteration"))
    assert later.predicted_bytes is not None
    assert first.predicted_bytes == later.predicted_bytes - 8 * predicted().stages[0].parameters


def test_the_first_iteration_ends_with_a_step_that_makes_the_moments() -> None:
    last = predicted().stages[3]
    first = one(measured("allocated", stage=3, moment="first_iteration"))
    assert first.predicted_bytes is not None
    assert first.predicted_bytes >= 18 * last.parameters


def test_a_stage_that_the_pipeline_has_not_is_skipped() -> None:
    assert one(measured("allocated", stage=4)).skipped == "stage 4 of a pipeline of 4"
    longer = run(measured={"kind": "allocated", "per_stage": [1] * 5})
    assert one(longer).skipped == "stage 4 of a pipeline of 4"


def test_saved_activations_of_one_layer() -> None:
    """8h + 4q + 4k + 6f + 4a + 8 bytes a token, with cuDNN's attention and nothing divided (memory_model.md 3.1)."""
    job = {**JOB, "parallelism": {}, "world_size": 1, "kernels": {"attention": "fused"}}
    found = one(run(job=job, measured={"kind": "activations", "bytes": 1, "scope": "layer"}))
    assert found.predicted_bytes == 2048 * (16 * 1024 + 6 * 4096 + 4 * 16 + 8)


def test_the_loss_is_its_logits_and_gradients() -> None:
    """Megatron's loss: 6 bytes a logit at its peak (memory_model.md 4); the vocabulary is padded to 32 000."""
    found = one(run(measured={"kind": "activations", "bytes": 1, "scope": "loss"}))
    assert found.predicted_bytes == 2048 * 32000 * 6


def test_activations_of_a_stage_are_more_than_those_of_a_layer() -> None:
    whole = one(measured("activations"))
    layer = one(measured("activations", scope="layer"))
    assert whole.predicted_bytes is not None
    assert layer.predicted_bytes is not None
    assert whole.predicted_bytes > 2 * layer.predicted_bytes


def test_a_label_is_compared_with_the_verdict() -> None:
    small = {**JOB, "model": {**JOB["model"], "num_hidden_layers": 80, "hidden_size": 8192}}
    found = [one(run(measured={"kind": label}, job=job)) for label, job in (("fits", JOB), ("oom", small))]
    assert [each.verdict for each in found] == ["fits", "does_not_fit"]
    assert [each.measured_bytes for each in found] == [None, None]


def test_a_row_without_a_gpu_is_compared_on_an_a100_and_has_no_verdict() -> None:
    found = one(run(device=None))
    assert found.predicted_bytes == max(each.allocated_bytes for each in predicted(ASSUMED_DEVICE).stages)
    assert found.verdict is None


def test_whether_it_fits_needs_a_gpu() -> None:
    assert one(run(device=None, measured={"kind": "oom"})).skipped == "whether it fits needs a GPU of known memory"


def test_what_cannot_be_priced_says_why() -> None:
    shared = {**JOB, "world_size": 6}
    found = compared(run(device="abacus"), run(job=shared), "nonsense")
    assert found[0].skipped == "there is no device 'abacus'"
    assert found[1].skipped is not None
    assert found[1].skipped.startswith("world size 6 is not a multiple")
    assert found[2].skipped is not None
    assert found[2].skipped.startswith("line 3")
    assert [reason for reason, _ in skip_reasons(found)] == [each.skipped for each in found]


def test_rows_are_grouped_and_the_largest_group_comes_first() -> None:
    rows = [run(family="b"), run(family="b"), run(family="a", measured={"kind": "fits"}), "nonsense"]
    found = compared(*rows)
    groups = grouped(found, "family")
    assert [(each.name, each.rows, each.skipped) for each in groups] == [
        ("b", 2, 0),
        ("a", 1, 0),
        ("unreadable", 1, 1),
    ]
    assert groups[0].bytes is not None
    assert (groups[0].bytes.rows, groups[0].bytes.predictions) == (2, 1)
    assert groups[1].labels is not None
    assert groups[1].labels.right == 1.0
    assert summary("all", found).rows == 4


def test_the_worst_rows_come_first() -> None:
    exact = max(each.allocated_bytes for each in predicted().stages)
    found = compared(*(measured("allocated", round(exact * factor)) for factor in (1.0, 2.0, 0.7)))
    assert [round(each.error, 2) for each in worst_first(found)] == [-0.5, 0.43, 0.0]


def test_a_label_on_the_wrong_side_is_named() -> None:
    found = compared(run(measured={"kind": "oom"}), run(measured={"kind": "fits"}))
    assert [each.kind for each in wrong_labels(found)] == ["oom"]
