"""Observations are stored once for each run, with what versions of the method predict, and groups tell of changes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from service.calibration.observed import Group
from service.store import observations
from service.store.errors import NotFound
from service.store.observations import Measured, NewObservation, ObservationFilter, Predicted, StoredObservation
from service.store.session import Store

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
GROUP = Group("megatron-core", "transformer_engine", "h100-sxm-80gb")
OTHER = Group("fsdp2", "torch", "h100-sxm-80gb")


def predicted(version: str = "1", **changes: Any) -> Predicted:
    facts: dict[str, Any] = {
        "method_version": version,
        "made_at": NOON,
        "stage": 0,
        "allocated_bytes": 2**40,
        "reserved_bytes": 2**41,
        "device_bytes": 2**62,
        "step_seconds": 2.5,
        "step_grid": [2.5, 2.25],
    }
    return Predicted(**facts | changes)


def an_observation(run_id: str = "run 'ü\"%_", **changes: Any) -> NewObservation:
    facts: dict[str, Any] = {
        "run_id": run_id,
        "fingerprint": "sha256:1",
        "group": GROUP,
        "gpus_per_node": 8,
        "profile": "megatron-core d98e8a64",
        "plan": None,
        "candidate": None,
        "digest": "sha256:2",
        "verdict": "fits",
        "usable_bytes": 2**36,
        "measured": Measured(source="nvidia-smi", stage=1, device_bytes=2**61, oom=False, step_seconds=2.75),
        "job": {"world_size": 64},
        "predicted": predicted(),
    }
    return NewObservation(**facts | changes)


def stored(store: Store, new: NewObservation, at: datetime | None = None) -> StoredObservation:
    with store.write() as session:
        return observations.create(session, new, at)[0]


def generations(store: Store) -> dict[Group, int]:
    with store.read() as session:
        return observations.generations(session)


def test_an_observation_comes_back_as_it_was_stored(store: Store) -> None:
    new = an_observation()
    made = stored(store, new, NOON)
    with store.read() as session:
        found, by_run = observations.get(session, made.id), observations.get_by_run(session, new.run_id)
    assert found == by_run == made
    assert found.created_at == NOON
    assert found.predicted == (new.predicted,)
    for name in set(NewObservation.__dataclass_fields__) - {"predicted"}:
        assert getattr(found, name) == getattr(new, name), name


def test_what_was_not_measured_stays_unsaid(store: Store) -> None:
    new = an_observation(
        measured=Measured(source="scheduler"), usable_bytes=None, predicted=predicted(step_seconds=None, step_grid=None)
    )
    made = stored(store, new)
    with store.read() as session:
        assert observations.get(session, made.id).measured == Measured(source="scheduler")


def test_a_run_has_one_observation(store: Store) -> None:
    first = stored(store, an_observation())
    with store.write() as session:
        again, is_new = observations.create(session, an_observation(fingerprint="sha256:other"))
    assert (again, is_new) == (first, False)


def test_many_writers_of_one_run_store_one(store: Store) -> None:
    def write(number: int) -> bool:
        with store.write() as session:
            return observations.create(session, an_observation(fingerprint=f"sha256:{number}"))[1]

    with ThreadPoolExecutor(6) as threads:
        assert sorted(threads.map(write, range(12))) == [False] * 11 + [True]


def test_what_is_not_stored_is_not_found(store: Store) -> None:
    made = stored(store, an_observation())
    with store.write() as session:
        observations.delete(session, made.id)
    for wanted in (made.id, "obs_1", "pln_" + made.id[4:]):
        with pytest.raises(NotFound), store.read() as session:
            observations.get(session, wanted)
        with pytest.raises(NotFound), store.write() as session:
            observations.delete(session, wanted)


@pytest.mark.parametrize(
    ("where", "runs"),
    [
        (ObservationFilter(), ["c", "b", "a"]),
        (ObservationFilter(run_id="b"), ["b"]),
        (ObservationFilter(framework="fsdp2"), ["c"]),
        (ObservationFilter(device="h100-sxm-80gb", oom=True), ["b"]),
        (ObservationFilter(plan="pln_1"), ["a"]),
        (ObservationFilter(oom=False), ["c", "a"]),
    ],
)
def test_lists_show_what_the_filter_admits(store: Store, where: ObservationFilter, runs: list[str]) -> None:
    dead = Measured(source="scheduler", oom=True)
    for number, new in enumerate(
        (
            an_observation("a", plan="pln_1", candidate=0),
            an_observation("b", measured=dead),
            an_observation("c", group=OTHER),
        )
    ):
        stored(store, new, NOON + timedelta(seconds=number))
    with store.read() as session:
        assert [each.run_id for each in observations.list_page(session, where, 10).items] == runs


def test_a_group_changes_with_its_observations_and_with_no_others(store: Store) -> None:
    assert generations(store) == {}
    made = stored(store, an_observation("a"))
    first = generations(store)
    stored(store, an_observation("a"))
    assert generations(store) == first
    stored(store, an_observation("b", group=OTHER))
    assert generations(store)[GROUP] == first[GROUP]
    with store.write() as session:
        observations.delete(session, made.id)
    assert generations(store)[GROUP] > first[GROUP]


def test_many_writers_of_one_group_each_change_it(store: Store) -> None:
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda number: stored(store, an_observation(f"run-{number}")), range(12)))
    assert generations(store) == {GROUP: 12}


def test_the_newest_of_a_group_come_first_and_no_more_than_asked(store: Store) -> None:
    for number in range(5):
        stored(store, an_observation(f"run-{number}"), NOON + timedelta(seconds=number))
    stored(store, an_observation("elsewhere", group=OTHER), NOON + timedelta(hours=1))
    with store.read() as session:
        found = observations.newest(session, GROUP, 3)
        assert [each.run_id for each in found] == ["run-4", "run-3", "run-2"]
    later = predicted("2", made_at=NOON + timedelta(days=1))
    stored(store, an_observation("run-5"), NOON + timedelta(minutes=1))
    with store.write() as session:
        again = observations.get(session, found[0].id)
        observations.predict_again(session, again, later)
        observations.delete(session, found[1].id)
    with store.read() as session:
        now = observations.newest(session, GROUP, 3, found)
        assert now == observations.newest(session, GROUP, 3)
    assert [each.run_id for each in now] == ["run-5", "run-4", "run-2"]
    assert now[1].predicted == (predicted(), later)
    assert now[2] is found[2]


def test_another_method_looks_at_what_it_has_not_seen(store: Store) -> None:
    made = [stored(store, an_observation(f"run-{number}"), NOON + timedelta(seconds=number)) for number in range(3)]
    before = generations(store)[GROUP]
    later = predicted("2", made_at=NOON + timedelta(days=1), device_bytes=5)
    with store.write() as session:
        observations.predict_again(session, made[1], later)
        observations.predict_again(session, made[1], replace(later, device_bytes=6))
    with store.read() as session:
        assert [each.run_id for each in observations.outdated(session, "2", None, 10)] == ["run-0", "run-2"]
        assert [each.run_id for each in observations.outdated(session, "2", made[0].id, 10)] == ["run-2"]
        assert observations.outdated(session, "1", None, 10) == []
        assert observations.get(session, made[1].id).predicted == (predicted(), later)
    assert generations(store)[GROUP] == before + 1


def test_a_removed_observation_is_not_predicted_again(store: Store) -> None:
    made = stored(store, an_observation())
    with store.write() as session:
        observations.delete(session, made.id)
    with store.write() as session:
        observations.predict_again(session, made, predicted("2"))
    with store.read() as session:
        assert observations.newest(session, GROUP, 10) == []


def test_the_database_refuses_what_it_does_not_know(store: Store) -> None:
    for wrong in ({"verdict": "maybe"}, {"measured": Measured(source="dcgm")}):  # type: ignore[arg-type]
        with pytest.raises(IntegrityError), store.write() as session:
            observations.create(session, an_observation(**wrong))
