"""How long things are kept: plans say it themselves, settings say it for the rest."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update
from starlette.testclient import TestClient

from service.api.app import create_app
from service.settings import Settings
from service.store import plans
from service.store.session import Store
from service.store.tables import Base, ComparisonRow, OperationRow, PlanRow, RefusalRow, RulingCountRow
from service.usecases.retention import BATCH, Purger, Retention, purge, retention_of
from tests.api.questions import DEVICE, job, plan
from tests.store.examples import a_plan

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


def make(client: TestClient, **changes: Any) -> dict[str, Any]:
    answer = client.post("/v1/plans", json=plan(**changes))
    assert answer.status_code in {200, 201}, answer.text
    found: dict[str, Any] = answer.json()
    return found


def count(store: Store, row: type[Base]) -> int:
    with store.read() as session:
        return session.execute(select(func.count()).select_from(row)).scalar_one()


def store_of(client: TestClient) -> Store:
    found: Store = client.app.state.services.store  # type: ignore[attr-defined]
    return found


def test_a_plan_says_how_long_it_is_kept(client: TestClient) -> None:
    made = make(client)
    assert (made["expires_at"], made["pinned"]) == (None, False)
    path = f"/v1/plans/{made['id']}"
    until = "2027-03-01T00:00:00Z"
    changed = client.patch(path, json={"expires_at": until})
    assert (changed.status_code, changed.json()["expires_at"]) == (200, until)
    pinned = client.patch(path, json={"pinned": True})
    assert (pinned.json()["expires_at"], pinned.json()["pinned"]) == (until, True)
    seen = client.get(path)
    assert (seen.json(), seen.headers["etag"]) == (pinned.json(), pinned.headers["etag"])
    assert client.get("/v1/plans").json()["items"][0]["pinned"] is True
    assert client.patch(path, json={"expires_at": None, "pinned": False}).json() == made
    late = client.patch(path, json={"pinned": True}, headers={"If-Match": seen.headers["etag"]})
    assert late.json()["code"] == "precondition_failed"
    assert client.patch("/v1/plans/pln_" + "0" * 32, json={}).json()["code"] == "plan_not_found"


@pytest.mark.parametrize("said", [{"expires_at": "2027-03-01T00:00:00"}, {"expires_at": "soon"}, {"pined": True}])
def test_a_moment_without_a_zone_is_refused(client: TestClient, said: dict[str, Any]) -> None:
    answer = client.patch(f"/v1/plans/{make(client)['id']}", json=said)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_who_asks_again_keeps_a_plan_longer_and_never_less_long(client: TestClient) -> None:
    sooner, later = "2027-03-01T00:00:00Z", "2028-03-01T00:00:00Z"
    first = make(client, expires_at=sooner)
    assert first["expires_at"] == sooner
    for asked, kept in [(later, later), (sooner, later), (None, later)]:
        again = make(client, expires_at=asked)
        assert (again["id"], again["expires_at"]) == (first["id"], kept)
    assert make(client, pinned=True)["pinned"] is True
    assert make(client)["pinned"] is True


def test_plans_whose_time_has_come_are_forgotten_and_pinned_ones_are_not(store: Store) -> None:
    old, past = NOW - 10 * DAY, NOW - DAY
    with store.write() as session:
        for name, at, facts in [
            ("old", old, {}),
            ("old, pinned", old, {"pinned": True}),
            ("old, a later time of its own", old, {"expires_at": NOW + DAY}),
            ("new", NOW, {}),
            ("new, past its own time", NOW, {"expires_at": past}),
            ("new, past its own time, pinned", NOW, {"expires_at": past, "pinned": True}),
        ]:
            plans_of(session, name, at, **facts)
    for_good = purge(store, Retention({}), NOW)
    assert for_good == {"plan": 1}
    assert purge(store, Retention({"plan": 5 * DAY}), NOW) == {"plan": 1}
    with store.read() as session:
        left = {digest.removeprefix("sha256:") for digest in session.scalars(select(PlanRow.digest))}
    assert left == {"old, pinned", "old, a later time of its own", "new", "new, past its own time, pinned"}
    assert purge(store, Retention({"plan": 5 * DAY}), NOW) == {}


def plans_of(session: Any, name: str, at: datetime, **facts: Any) -> None:
    plans.create(session, a_plan(digest=f"sha256:{name}", **facts), at)


def test_settings_say_how_long_the_rest_is_kept(client: TestClient, settings: Settings) -> None:
    store = store_of(client)
    client.put("/v1/policies/prod", json={"mode": "shadow", "allowed_devices": []})
    items = [{"job": job(), "targets": [{"device": DEVICE}]}]
    client.post("/v1/verdicts", json={"items": items, "queue": "prod"})
    client.app.state.services.record.store()  # type: ignore[attr-defined]
    compared = {"items": [{"label": "a", "job": job()}], "targets": [{"device": DEVICE}]}
    assert client.post("/v1/comparisons", json=compared, headers={"Idempotency-Key": "a"}).status_code == 201
    begun = client.post("/v1/plans?wait=0", json=plan()).json()
    while client.get(f"/v1/operations/{begun['id']}").json()["state"] in {"waiting", "running"}:
        pass
    everything = settings.model_copy(
        update={"comparison_retention_days": 7, "operation_retention_days": 7, "record_retention_days": 7}
    )
    assert purge(store, retention_of(everything), NOW + 6 * DAY) == {"idempotency_key": 1}
    found = purge(store, retention_of(everything), NOW + 9 * DAY)
    assert found == {"comparison": 1, "operation": 1, "refusal": 1, "count": 1}
    rows = (ComparisonRow, OperationRow, RefusalRow, RulingCountRow)
    assert [count(store, each) for each in rows] == [0, 0, 0, 0]
    assert count(store, PlanRow) == 1  # plans are kept for good by default


def test_an_operation_that_has_not_ended_is_kept(client: TestClient) -> None:
    store = store_of(client)
    client.post("/v1/plans?wait=0", json=plan())
    with store.write() as session:
        session.execute(update(OperationRow).values(state="running", finished_at=None))
    assert purge(store, Retention({"operation": DAY}), NOW + 9 * DAY) == {}


def test_much_is_forgotten_in_small_transactions(store: Store) -> None:
    with store.write() as session:
        for number in range(2 * BATCH + 1):
            plans_of(session, str(number), NOW - 9 * DAY)
    kept = Retention({"plan": DAY})
    purger = Purger(store, kept)
    left = []
    for _ in range(4):
        purger.purge()
        left.append(count(store, PlanRow))
    assert left == [BATCH + 1, 1, 0, 0]


def test_a_service_forgets_on_its_own(settings: Settings) -> None:
    with TestClient(create_app(settings)) as client:
        made = make(client, expires_at="2026-01-01T00:00:00Z")
        assert client.get(f"/v1/plans/{made['id']}").status_code == 200
    with TestClient(create_app(settings)) as restarted:
        services = restarted.app.state.services  # type: ignore[attr-defined]
        Purger(services.store, retention_of(settings)).purge()
        assert restarted.get(f"/v1/plans/{made['id']}").json()["code"] == "plan_not_found"
        again = make(restarted)
        assert again["id"] != made["id"]
