"""Plans are stored as given, found by id and by digest, listed by what is known of them, and removed."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, StatementError

from service.store import plans
from service.store.errors import NotFound
from service.store.plans import NewPlan, PlanFilter, StoredPlan
from service.store.session import Store
from tests.store.examples import a_plan

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def stored(store: Store, plan: NewPlan, at: datetime | None = None) -> StoredPlan:
    with store.write() as session:
        return plans.create(session, plan, at)[0]


def listed(store: Store, where: PlanFilter) -> list[str]:
    with store.read() as session:
        return [plan.digest for plan in plans.list_page(session, where, limit=100).items]


def test_a_plan_comes_back_as_it_was_stored(store: Store) -> None:
    plan = a_plan(labels={"team": "search", "owner": "ü'\"%_"}, peak_device_bytes=2**62)
    made = stored(store, plan, NOON)
    with store.read() as session:
        found = plans.get(session, made.id)
    assert found == made
    assert found.created_at == NOON
    for name in NewPlan.__dataclass_fields__:
        assert getattr(found, name) == getattr(plan, name), name


def test_a_document_comes_back_with_its_order_its_numbers_and_its_characters(store: Store) -> None:
    document = {"zebra": 1, "a": [2**60, 1e22, 0.1, -0.0, True, None], "text": "\x00 \ud800 €", "": {}}
    made = stored(store, a_plan(request=document, answer={"nested": document}))
    with store.read() as session:
        found = plans.get(session, made.id)
    assert repr(found.request) == repr(document)
    assert repr(found.answer) == repr({"nested": document})


def test_a_document_with_a_number_that_is_not_json_is_refused(store: Store) -> None:
    with pytest.raises((ValueError, StatementError), match="Out of range float"), store.write() as session:
        plans.create(session, a_plan(answer={"step_seconds": float("nan")}))
    assert listed(store, PlanFilter()) == []


def test_a_plan_that_fits_nowhere_has_neither_time_nor_peak(store: Store) -> None:
    made = stored(store, a_plan(verdict="does_not_fit", best_step_seconds=None, peak_device_bytes=None))
    with store.read() as session:
        found = plans.get(session, made.id)
    assert (found.best_step_seconds, found.peak_device_bytes) == (None, None)


def test_the_same_digest_again_gives_the_plan_that_is_stored(store: Store) -> None:
    first = stored(store, a_plan(digest="sha256:same", answer={"first": True}))
    with store.write() as session:
        second, created = plans.create(session, a_plan(digest="sha256:same", answer={"first": False}))
    assert not created
    assert second == first
    with store.read() as session:
        assert plans.get_by_digest(session, "sha256:same") == first


def test_an_unknown_digest_is_no_error(store: Store) -> None:
    with store.read() as session:
        assert plans.get_by_digest(session, "sha256:nothing") is None


def test_ids_sort_by_the_time_the_plans_were_made(store: Store) -> None:
    ids = [stored(store, a_plan(), NOON + timedelta(milliseconds=n)).id for n in range(5)]
    assert ids == sorted(ids)
    assert all(made.startswith("pln_") and len(made) == len("pln_") + 32 for made in ids)


def test_an_id_is_a_uuid_of_version_7() -> None:
    made = plans.parse_plan_id(plans.plan_id_text(UUID("018e1a2b-3c4d-7e5f-8a6b-7c8d9e0f1a2b")))
    assert made.version == 7


@pytest.mark.parametrize("wanted", ["pln_" + "0" * 32, "pln_0", "cmp_" + "0" * 32, "pln_" + "A" * 32, "", "pln_\u0661"])
def test_an_id_under_which_nothing_is_stored_is_not_found(store: Store, wanted: str) -> None:
    with store.read() as session, pytest.raises(NotFound, match="no plan"):
        plans.get(session, wanted)
    with store.write() as session, pytest.raises(NotFound, match="no plan"):
        plans.delete(session, wanted)


def test_a_removed_plan_is_gone_with_its_labels_and_leaves_the_others(store: Store) -> None:
    gone = stored(store, a_plan(labels={"team": "a"}))
    kept = stored(store, a_plan(labels={"team": "a"}))
    with store.write() as session:
        plans.delete(session, gone.id)
    with store.read() as session:
        with pytest.raises(NotFound):
            plans.get(session, gone.id)
        assert plans.get(session, kept.id) == kept
        assert session.execute(text("SELECT count(*) FROM plan_labels")).scalar_one() == 1


def test_a_list_shows_all_but_the_documents(store: Store) -> None:
    made = stored(store, a_plan(labels={"b": "2", "a": "1"}))
    with store.read() as session:
        (item,) = plans.list_page(session, PlanFilter(), limit=10).items
    names = plans.StoredPlanSummary.__dataclass_fields__
    assert {name: getattr(item, name) for name in names} == {name: getattr(made, name) for name in names}
    assert list(item.labels) == ["a", "b"]


def test_a_list_is_filtered_by_model_device_verdict_and_labels(store: Store) -> None:
    made = {
        "one": a_plan(digest="one", model="qwen3-8b"),
        "two": a_plan(digest="two", device="a100-sxm-80gb"),
        "three": a_plan(digest="three", verdict="tight", labels={"team": "search"}),
        "four": a_plan(digest="four", verdict="tight", labels={"team": "search", "run": "7"}),
        "five": a_plan(digest="five", labels={"team": "sear", "search": "team"}),
    }
    for minute, plan in enumerate(made.values()):
        stored(store, plan, NOON + timedelta(minutes=minute))
    assert listed(store, PlanFilter()) == ["five", "four", "three", "two", "one"]
    assert listed(store, PlanFilter(model="qwen3-8b")) == ["one"]
    assert listed(store, PlanFilter(device="a100-sxm-80gb")) == ["two"]
    assert listed(store, PlanFilter(verdict="tight")) == ["four", "three"]
    assert listed(store, PlanFilter(labels=[("team", "search")])) == ["four", "three"]
    assert listed(store, PlanFilter(verdict="tight", labels=[("team", "search"), ("run", "7")])) == ["four"]
    assert listed(store, PlanFilter(labels=[("team", "%")])) == []
    assert listed(store, PlanFilter(model="Qwen3-8B")) == []


def test_a_moment_in_another_zone_is_the_same_moment(store: Store) -> None:
    made = stored(store, a_plan(), NOON.astimezone(timezone(timedelta(hours=9))))
    with store.read() as session:
        found = plans.get(session, made.id)
    assert found.created_at == NOON
    assert found.created_at.utcoffset() == timedelta(0)


def test_a_moment_without_a_zone_is_refused(store: Store) -> None:
    with pytest.raises(StatementError, match="a moment needs a time zone"), store.write() as session:
        plans.create(session, a_plan(), datetime(2026, 3, 1))  # noqa: DTZ001 - the point of the test
    assert listed(store, PlanFilter()) == []


@pytest.mark.parametrize(
    "broken",
    [{"verdict": "maybe"}, {"world_size": 0}, {"peak_device_bytes": -1}],
    ids=lambda broken: next(iter(broken)),
)
def test_the_database_itself_refuses_what_no_plan_can_be(store: Store, broken: dict[str, object]) -> None:
    with pytest.raises(IntegrityError, match=f"ck_plans_{next(iter(broken))}"), store.write() as session:
        plans.create(session, a_plan(**broken))
    assert listed(store, PlanFilter()) == []
