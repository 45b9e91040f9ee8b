"""Who removes something may say which answer was read, and removes nothing else."""

import pytest
from starlette.testclient import TestClient

from tests.api.questions import plan
from tests.api.test_observations import observation


@pytest.fixture
def path(client: TestClient) -> str:
    """Where a stored plan is."""
    return client.post("/v1/plans", json=plan()).headers["location"]


def test_the_current_tag_lets_it_be_removed(client: TestClient, path: str) -> None:
    tag = client.get(path).headers["etag"]
    assert client.delete(path, headers={"If-Match": f'"older", {tag}'}).status_code == 204
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("given", ['"other"', "W/{tag}", "{bare}", ","])
def test_any_other_is_refused_and_nothing_is_removed(client: TestClient, path: str, given: str) -> None:
    tag = client.get(path).headers["etag"]
    answer = client.delete(path, headers={"If-Match": given.format(tag=tag, bare=tag.strip('"'))})
    assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")
    assert tag in answer.json()["detail"]
    assert client.get(path).status_code == 200


def test_anything_will_do_for_a_star(client: TestClient, path: str) -> None:
    assert client.delete(path, headers={"If-Match": "*"}).status_code == 204
    assert client.delete(path, headers={"If-Match": "*"}).status_code == 404


def test_an_observation_is_removed_as_it_was_read_only(client: TestClient) -> None:
    made = client.post("/v1/observations", json=observation())
    path = made.headers["location"]
    assert client.delete(path, headers={"If-Match": '"other"'}).status_code == 412
    tag = client.get(path).headers["etag"]
    assert client.delete(path, headers={"If-Match": tag}).status_code == 204


@pytest.mark.parametrize("path", ["/v1/devices", "/v1/models"])
def test_a_catalogue_is_sent_once(client: TestClient, path: str) -> None:
    first = client.get(path)
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])


def test_a_catalogue_that_has_changed_is_sent_again(client: TestClient) -> None:
    tag = client.get("/v1/devices").headers["etag"]
    assert client.put("/v1/devices/h100-sxm-80gb", json={"reserve_bytes": 1 << 30}).status_code == 200
    assert client.get("/v1/devices", headers={"If-None-Match": tag}).status_code == 200
