"""Step times of a cluster after a few of its steps were measured."""

import io
from typing import Any

import pytest

from service.calibration.few_shot import Tuning, fit
from service.usecases.time_calibration import calibrated_families, calibrated_seconds, predictions
from service.usecases.timed_runs import TimedRun, read_timed_runs
from service.usecases.timing import TimedJob, compare_times, timed_job
from tests.usecases.measured import JOB, lines
from tests.usecases.timed import timed


def with_tensor(tensor: int, micro: int) -> dict[str, Any]:
    model = {**JOB["model"], "hidden_size": 8192, "num_attention_heads": 64, "num_key_value_heads": 64}
    batch = {**JOB["batch"], "micro": micro}
    return {
        **JOB,
        "model": {**model, "intermediate_size": 28672},
        "parallelism": {"tensor": tensor, "sequence": tensor > 1},
        "batch": batch,
    }


def jobs() -> list[TimedJob]:
    rows = [timed(id=f"{t} {b}", job=with_tensor(t, b)) for t in (1, 2, 4) for b in (1, 2)]
    return [timed_job(each) for each in read_timed_runs(io.BytesIO(lines(*rows))) if isinstance(each, TimedRun)]


def test_an_untuned_prediction_is_the_plain_one() -> None:
    job = jobs()[0]
    [plain] = compare_times([job.run])
    assert calibrated_seconds(job, Tuning()) == pytest.approx(plain.predicted_step_seconds)


@pytest.mark.parametrize("faster", [Tuning(link=2.0), Tuning(product=1.3), Tuning(scale=0.7)])
def test_what_is_faster_shortens_every_step_that_uses_it(faster: Tuning) -> None:
    for job in jobs():
        plain = calibrated_seconds(job, Tuning())
        assert 0.5 * plain < calibrated_seconds(job, faster) < plain


def test_a_cluster_that_differs_in_scale_and_links_is_predicted_from_three_of_its_steps() -> None:
    true = Tuning(scale=1.3, link=0.6)
    found = jobs()
    measured = [calibrated_seconds(each, true) for each in found]
    shown = (0, 3, 4)
    tuning = fit(
        [predictions(found[each].resolved, found[each].accelerator) for each in shown],
        [measured[each] for each in shown],
    )
    for each in (1, 2, 5):
        assert calibrated_seconds(found[each], tuning) == pytest.approx(measured[each], rel=0.06)


def test_families_are_judged_on_the_rows_that_were_not_shown() -> None:
    rows = [
        timed(
            id=job.run.id,
            group=job.run.id,
            job=job.run.job.model_dump(by_alias=True, exclude_none=True),
            measured={"step_seconds": 1.5 * calibrated_seconds(job, Tuning())},
        )
        for job in jobs()
    ]
    compared = compare_times(read_timed_runs(io.BytesIO(lines(*rows))))
    [family] = calibrated_families(compared, 2)
    assert (family.name, family.rows, family.steps) == ("example", 6, 2)
    assert family.before == pytest.approx(1 / 3)
    assert family.mean < 0.03
    assert calibrated_families(compared, 3) == []
