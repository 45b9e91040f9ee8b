"""The pages for people work without internet, and explain every code."""

import re
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import service.api
from service.api.catalogue import KINDS

STATIC = Path(service.api.__file__).parent / "static"


@pytest.mark.parametrize("page", ["/docs", "/docs/errors"])
def test_a_page_loads_nothing_from_elsewhere(api: TestClient, page: str) -> None:
    answer = api.get(page)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert re.findall(r"https?:|//\w", answer.text) == []
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    links = re.findall(r'(?:src|href)="([^"#]+)"', answer.text)
    assert links
    for link in links:
        assert api.get(str(answer.url.join(link))).status_code == 200, link


def test_the_script_of_the_page_asks_no_other_site(api: TestClient) -> None:
    script = api.get("/docs/assets/docs.js").text
    assert re.findall(r"https?:", script) == []
    assert "validatorUrl: null" in script
    assert 'url: "openapi.json"' in script
    assert '"x-codeSamples"' in script


def test_every_code_is_explained_under_its_anchor(api: TestClient) -> None:
    page = api.get("/docs/errors").text
    assert len({each.code for each in KINDS}) == len(KINDS)
    for kind in KINDS:
        assert f'id="{kind.code}"' in page
        assert kind.title in page


def test_vendored_files_are_those_that_were_published() -> None:
    vendored = tomllib.loads((STATIC / "vendored.toml").read_text("utf-8"))
    assert vendored.keys() == {path.name for path in STATIC.iterdir() if path.is_dir()}
    for name, project in vendored.items():
        assert project["version"]
        assert project["license"] == "Apache-2.0"
        sums = {path.name: sha256(path.read_bytes()).hexdigest() for path in (STATIC / name).iterdir()}
        assert sums == project["sha256"]
        assert "LICENSE" in sums
