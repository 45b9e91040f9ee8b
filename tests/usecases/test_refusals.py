"""The record of what policies refuse: it waits while the database is away, and nothing is counted twice."""

from contextlib import contextmanager
from typing import Any, NoReturn

import pytest

from service.job.schema import Job
from service.store.errors import StoreUnavailable
from service.store.session import Store
from service.usecases import refusals
from service.usecases.policies import BrokenRule, Ruled
from service.usecases.refusals import Record, list_refusals, summary_of
from service.usecases.targets import Target
from service.usecases.verdicts import Item, VerdictAnswer
from tests.api.questions import job

ITEM = Item(Job.model_validate(job()), [], reference="slurm-1")
REFUSED = Ruled("prod", "shadow", "admit", "refuse", (BrokenRule("does_not_fit", "refuse", "too large"),))


def keep(record: Record, *, device: str = "h100-sxm-80gb") -> None:
    answer = VerdictAnswer(verdict="does_not_fit", reason="too large", target=Target(device, 64), digest="sha256:1")
    record.keep("prod", ITEM, answer, REFUSED)


def counted(store: Store) -> dict[str, int]:
    return {each.device: each.count for each in list_refusals(store, "prod", 10, None).items}


def test_what_cannot_be_stored_is_stored_later_and_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    record = Record(store)
    keep(record)

    @contextmanager
    def away() -> Any:
        fail()
        yield

    with monkeypatch.context() as broken:
        broken.setattr(store, "write", away)
        record.store()
        keep(record)
        keep(record, device="l40s")
        record.store()
    record.store()
    record.store()
    assert counted(store) == {"h100-sxm-80gb": 2, "l40s": 1}
    assert summary_of(store, "prod", 1).rulings == {"refuse": 3}


def test_beyond_what_may_wait_refusals_are_only_counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "MOST_WAITING", 1)
    record = Record(store)
    for device in ("h100-sxm-80gb", "l40s", "h100-sxm-80gb"):
        keep(record, device=device)
    record.store()
    assert counted(store) == {"h100-sxm-80gb": 2}
    assert summary_of(store, "prod", 1).rulings == {"refuse": 3}


def fail() -> NoReturn:
    raise StoreUnavailable("the database is away")
