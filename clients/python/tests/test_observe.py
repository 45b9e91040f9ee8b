"""Runs are told to a service; torch is a module of the test's."""

import logging
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from client_jobs import DEVICE, FEW, JOB, open_job
from memplan_client import Client, Measured, Run, errors
from memplan_client.torch import observed

GIB = 1 << 30


class OutOfMemoryError(RuntimeError):
    """As torch.cuda.OutOfMemoryError is."""


class Cuda:
    """As torch.cuda reports a GPU of 80 GiB; `used` sets the peaks."""

    OutOfMemoryError = OutOfMemoryError

    def __init__(self) -> None:
        self.allocated = self.reserved = self.kept = 50 * GIB

    def reset_peak_memory_stats(self) -> None:
        self.allocated = self.reserved = self.kept = 0

    def use(self, allocated: int, reserved: int, kept: int | None = None) -> None:
        self.allocated, self.reserved, self.kept = allocated, reserved, reserved if kept is None else kept

    def max_memory_allocated(self) -> int:
        return self.allocated

    def max_memory_reserved(self) -> int:
        return self.reserved

    def memory_reserved(self) -> int:
        return self.kept

    def mem_get_info(self) -> tuple[int, int]:
        return 79 * GIB - self.kept, 80 * GIB


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Cuda:
    module: Any = ModuleType("torch")
    module.cuda = Cuda()
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.delenv("RANK", raising=False)
    cuda: Cuda = module.cuda
    return cuda


def told(client: Client, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The answers to what is told from now on."""
    answers: list[Any] = []
    observe = client.observe

    def kept(run: Run, measured: Measured) -> Any:
        answers.append(observe(run, measured))
        return answers[-1]

    monkeypatch.setattr(client, "observe", kept)
    return answers


def test_the_module_does_not_import_torch() -> None:
    assert "torch" not in sys.modules


def test_a_run_of_a_job_a_script_and_a_plan_is_told(client: Client, script: Path) -> None:
    measured = Measured(reserved_bytes=9 * GIB, stage=0)
    found = client.observe(Run("job-1", job_or_file=JOB, device=DEVICE), measured)
    assert found.measured.reserved_bytes == 9 * GIB
    assert found.ratios.reserved == pytest.approx(9 * GIB / found.predicted.reserved_bytes, abs=1e-5)
    assert client.observe(Run("job-1", job_or_file=JOB, device=DEVICE), measured).id == found.id
    assert client.observe(Run("script-1", job_or_file=script, device=DEVICE), measured).device == DEVICE
    plan = client.plan(open_job(3072), DEVICE, 8, search=FEW, top=1)
    assert client.observe(Run("plan-1", plan=plan.id), Measured(oom=True, source="scheduler")).plan == plan.id
    with pytest.raises(errors.RunAlreadyObserved):
        client.observe(Run("job-1", job_or_file=JOB, device=DEVICE), Measured(oom=True))


def test_the_peaks_are_told_at_the_end_of_a_run(client: Client, cuda: Cuda, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = told(client, monkeypatch)
    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    with observed(client, Run("torch-1", job_or_file=JOB, device=DEVICE), stage=1) as steps:
        assert cuda.allocated == 0
        for _ in range(6):
            steps.done()
        cuda.use(8 * GIB, 9 * GIB)
    (answer,) = answers
    measured = answer.measured
    assert (measured.allocated_bytes, measured.reserved_bytes) == (8 * GIB, 9 * GIB)
    assert measured.device_bytes == 10 * GIB
    assert (measured.stage, measured.oom, measured.step_seconds) == (1, False, 2.0)


def test_what_the_driver_shows_is_told_only_when_the_allocator_gave_nothing_back(
    client: Client, cuda: Cuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = told(client, monkeypatch)
    with observed(client, Run("torch-2", job_or_file=JOB, device=DEVICE)) as steps:
        steps.done()
        cuda.use(8 * GIB, 9 * GIB, kept=2 * GIB)
    assert answers[0].measured.device_bytes is None
    assert answers[0].measured.step_seconds is None


def test_running_out_of_memory_is_told_by_every_rank_and_raised(
    client: Client, cuda: Cuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = told(client, monkeypatch)
    monkeypatch.setenv("RANK", "7")
    run = Run("torch-3", job_or_file=JOB, device=DEVICE)

    def train() -> None:
        with observed(client, run):
            cuda.use(8 * GIB, 9 * GIB)
            raise OutOfMemoryError

    with pytest.raises(OutOfMemoryError):
        train()
    assert answers[0].measured.oom is True
    assert answers[0].measured.reserved_bytes == 9 * GIB


def test_another_rank_and_a_run_that_fails_otherwise_tell_nothing(
    client: Client, cuda: Cuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = told(client, monkeypatch)
    run = Run("torch-4", job_or_file=JOB, device=DEVICE)
    with pytest.raises(ZeroDivisionError), observed(client, run):
        raise ZeroDivisionError
    monkeypatch.setenv("RANK", "1")
    with observed(client, run):
        cuda.use(8 * GIB, 9 * GIB)
    assert answers == []


def test_a_training_does_not_fail_because_the_service_does(
    cuda: Cuda, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.WARNING)  # the command's tests may have quietened the process before
    away = Client("http://127.0.0.1:1", timeout=0.2)
    for job in (JOB, tmp_path / "gone.sh"):
        with observed(away, Run("torch-5", job_or_file=job, device=DEVICE)):
            cuda.use(8 * GIB, 9 * GIB)
    away.close()
    assert [each.levelname for each in caplog.records] == ["WARNING", "WARNING"]
    assert "torch-5" in caplog.text
