"""A service that is killed while it creates: what it acknowledged is there, and what is repeated is made once.

`make crash` does the same with a thousand creates at a time.
"""

from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from service.settings import Settings
from service.store.session import Store
from service.store.tables import ComparisonRow, KeyRow, PlanLabelRow, PlanRow
from tests.api.crashing import Outcome, crash

CREATES = 60
KILLS = 2


@pytest.fixture
def outcome(database_url: str, tmp_path: Path) -> Outcome:
    return crash(database_url, tmp_path, CREATES, KILLS)


def test_what_was_acknowledged_survives_a_kill_and_what_is_repeated_is_made_once(
    outcome: Outcome, database_url: str
) -> None:
    assert outcome.kills == KILLS
    assert (outcome.refused, outcome.lost, outcome.changed) == ([], [], [])
    ids = {key: made["id"] for key, made in outcome.acknowledged.items()}
    assert len(ids) == len(set(ids.values())) == CREATES
    assert outcome.seen["/v1/plans"] | outcome.seen["/v1/comparisons"] == set(ids.values())
    assert outcome.replayed >= CREATES
    with Store(Settings(database_url=database_url)) as store, store.read() as session:
        rows = [
            session.execute(select(func.count()).select_from(each)).scalar_one()
            for each in (PlanRow, PlanLabelRow, ComparisonRow, KeyRow)
        ]
        assert rows == [CREATES // 2, CREATES // 2, CREATES // 2, CREATES]
        if database_url.startswith("sqlite"):
            assert session.execute(text("PRAGMA integrity_check")).scalars().all() == ["ok"]
            assert session.execute(text("PRAGMA foreign_key_check")).all() == []
