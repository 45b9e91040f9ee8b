"""Pages follow each other without a gap or a repetition, whatever is stored in between."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.store import plans
from service.store.errors import InvalidCursor
from service.store.paging import Key, decode_cursor, encode_cursor
from service.store.plans import PlanFilter
from service.store.session import Store
from tests.store.examples import a_plan

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def fill(store: Store, count: int, at: datetime, prefix: str) -> None:
    with store.write() as session:
        for number in range(count):
            # Three plans share each moment, so that the order depends on the id as well.
            plans.create(session, a_plan(digest=f"{prefix}{number}"), at + timedelta(seconds=number // 3))


def pages(store: Store, limit: int, where: PlanFilter | None = None) -> list[list[str]]:
    found: list[list[str]] = []
    cursor = None
    while True:
        with store.read() as session:
            page = plans.list_page(session, where or PlanFilter(), limit, cursor)
        found.append([plan.id for plan in page.items])
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_pages_together_are_the_list_newest_first(store: Store) -> None:
    fill(store, 10, NOON, "plan")
    found = pages(store, 3)
    assert [len(page) for page in found] == [3, 3, 3, 1]
    ids = [plan_id for page in found for plan_id in page]
    assert [ids] == pages(store, 10)
    assert len(set(ids)) == 10
    with store.read() as session:
        moments = [plans.get(session, plan_id).created_at for plan_id in ids]
    assert moments == sorted(moments, reverse=True)


def test_the_last_page_has_no_cursor_even_when_it_is_full(store: Store) -> None:
    fill(store, 6, NOON, "plan")
    assert [len(page) for page in pages(store, 3)] == [3, 3]


def test_a_list_without_plans_is_one_empty_page(store: Store) -> None:
    assert pages(store, 3) == [[]]


def test_plans_stored_between_two_pages_shift_nothing(store: Store) -> None:
    fill(store, 9, NOON, "early")
    before = [plan_id for page in pages(store, 100) for plan_id in page]
    with store.read() as session:
        first = plans.list_page(session, PlanFilter(), 4)
    fill(store, 5, NOON + timedelta(hours=1), "late")
    with store.read() as session:
        second = plans.list_page(session, PlanFilter(), 100, first.next_cursor)
    assert [plan.id for plan in (*first.items, *second.items)] == before


def test_the_plan_a_cursor_points_at_may_be_removed(store: Store) -> None:
    fill(store, 6, NOON, "plan")
    before = [plan_id for page in pages(store, 100) for plan_id in page]
    with store.write() as session:
        first = plans.list_page(session, PlanFilter(), 3)
        plans.delete(session, first.items[-1].id)
    with store.read() as session:
        second = plans.list_page(session, PlanFilter(), 3, first.next_cursor)
    assert [plan.id for plan in second.items] == before[3:]


def test_pages_of_a_filtered_list_hold_nothing_else(store: Store) -> None:
    with store.write() as session:
        for number in range(8):
            labels = {"parity": "odd" if number % 2 else "even"}
            plans.create(session, a_plan(digest=str(number), labels=labels), NOON + timedelta(seconds=number))
    assert [len(page) for page in pages(store, 3, PlanFilter(labels=[("parity", "odd")]))] == [3, 1]


@given(moment=st.datetimes(timezones=st.just(UTC)), plan_id=st.uuids())
def test_a_cursor_stands_for_exactly_one_place(moment: datetime, plan_id: UUID) -> None:
    assert decode_cursor(encode_cursor(Key(moment, plan_id))) == Key(moment, plan_id)


@given(cursor=st.text(max_size=40))
def test_any_other_text_is_no_cursor(cursor: str) -> None:
    try:
        place = decode_cursor(cursor)
    except InvalidCursor:
        return
    assert encode_cursor(place) == cursor


@pytest.mark.parametrize("cursor", ["", "x", "AAAA", "é", "f" * 32, "A" * 31 + "="])
def test_a_made_up_cursor_is_refused(store: Store, cursor: str) -> None:
    with store.read() as session, pytest.raises(InvalidCursor, match="begin without one"):
        plans.list_page(session, PlanFilter(), 3, cursor)
