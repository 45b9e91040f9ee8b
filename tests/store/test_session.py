"""Sessions: what is acknowledged is stored, readers cannot write, and writers wait their turn, not for ever."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import event, update

from service.settings import Settings
from service.store import plans
from service.store.errors import ReadOnlySession, StoreBusy
from service.store.plans import PlanFilter
from service.store.session import Store
from service.store.tables import PlanRow
from tests.store.examples import a_plan


def count(store: Store) -> int:
    with store.read() as session:
        return len(plans.list_page(session, PlanFilter(), limit=1000).items)


def test_what_a_block_wrote_is_stored_when_it_ends(store: Store) -> None:
    with store.write() as session:
        plans.create(session, a_plan())
    assert count(store) == 1


def test_a_block_that_raises_stores_nothing(store: Store) -> None:
    def store_and_fail() -> None:
        with store.write() as session:
            plans.create(session, a_plan())
            raise LookupError("after the plan was written")

    with pytest.raises(LookupError, match="after the plan was written"):
        store_and_fail()
    assert count(store) == 0


def test_a_commit_that_fails_raises_and_stores_nothing(store: Store) -> None:
    def fail(_connection: object) -> None:
        raise OSError("no space left")

    event.listen(store._engine, "commit", fail)
    with pytest.raises(OSError, match="no space left"), store.write() as session:
        plans.create(session, a_plan())
    event.remove(store._engine, "commit", fail)
    assert count(store) == 0
    with store.write() as session:
        plans.create(session, a_plan())
    assert count(store) == 1


def test_a_session_for_reading_refuses_to_store(store: Store) -> None:
    with pytest.raises(ReadOnlySession), store.read() as session:
        plans.create(session, a_plan())  # type: ignore[arg-type]
    with pytest.raises(ReadOnlySession), store.read() as session:
        session.execute(update(PlanRow).values(model="changed"))
    assert count(store) == 0


def test_a_reader_is_not_kept_waiting_by_a_writer(store: Store) -> None:
    with store.write() as session:
        plans.create(session, a_plan())
        assert count(store) == 0
    assert count(store) == 1


def test_many_threads_that_ask_the_same_get_one_plan(store: Store) -> None:
    together = threading.Barrier(8)

    def ask(_: int) -> tuple[str, bool]:
        together.wait()
        with store.write() as session:
            plan, created = plans.create(session, a_plan(digest="sha256:same"))
        return plan.id, created

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(8)))
    assert len({plan_id for plan_id, _ in answers}) == 1
    assert [created for _, created in answers].count(True) == 1
    assert count(store) == 1


def test_who_asks_while_the_same_plan_is_being_stored_gets_that_plan(store: Store) -> None:
    # The second writer has looked and found nothing when the first one commits: the database decides.
    begun = threading.Event()

    def ask() -> tuple[str, bool]:
        begun.set()
        with store.write() as session:
            plan, created = plans.create(session, a_plan(digest="sha256:same"))
        return plan.id, created

    with ThreadPoolExecutor(1) as threads:
        with store.write() as session:
            first, _ = plans.create(session, a_plan(digest="sha256:same"))
            answer = threads.submit(ask)
            begun.wait()
            threading.Event().wait(0.2)
            assert not answer.done()
        assert answer.result() == (first.id, False)


def test_many_writers_of_different_plans_all_succeed(store: Store) -> None:
    def ask(number: int) -> None:
        with store.write() as session:
            plans.create(session, a_plan(digest=f"sha256:{number}"))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(ask, range(40)))
    assert count(store) == 40


def test_a_writer_that_waits_too_long_is_told_so(settings: Settings) -> None:
    def ask() -> None:
        with store.write() as session:
            plans.create(session, a_plan(digest="sha256:same"))

    impatient = settings.model_copy(update={"busy_timeout_seconds": 0.2})
    with Store(impatient) as store, ThreadPoolExecutor(1) as threads:
        with store.write() as session:
            plans.create(session, a_plan(digest="sha256:same"))
            # SQLite's writers queue in this process, which is fairer and faster than in the database.
            why = "another request has been writing" if "sqlite" in settings.database_url else "lock timeout"
            with pytest.raises(StoreBusy, match=why):
                threads.submit(ask).result()
        ask()
        assert count(store) == 1


def test_on_sqlite_a_writer_in_another_process_is_waited_for_as_long(sqlite_url: str) -> None:
    settings = Settings(database_url=sqlite_url, busy_timeout_seconds=0.2)
    with Store(settings) as ours, Store(settings) as theirs:
        with theirs.write() as session:
            plans.create(session, a_plan())
            with pytest.raises(StoreBusy, match="locked"), ours.write() as late:
                plans.create(late, a_plan())
        with ours.write() as session:
            plans.create(session, a_plan())
        assert count(ours) == 2


def test_on_sqlite_who_reads_before_writing_does_not_fail_when_another_process_has_written(sqlite_url: str) -> None:
    settings = Settings(database_url=sqlite_url)
    with Store(settings) as ours, Store(settings) as theirs:

        def ask(number: int) -> None:
            with (ours, theirs)[number % 2].write() as session:
                assert plans.get_by_digest(session, f"sha256:{number}") is None
                plans.create(session, a_plan(digest=f"sha256:{number}"))

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(ask, range(40)))
        assert count(ours) == 40


def test_a_reader_that_gets_no_connection_is_told_so(settings: Settings) -> None:
    crowded = settings.model_copy(update={"thread_limit": 1, "busy_timeout_seconds": 0.1})
    with Store(crowded) as store:
        with store.read() as session:
            plans.list_page(session, PlanFilter(), 1)
            with pytest.raises(StoreBusy, match="connections"):
                store.ping()
        store.ping()
