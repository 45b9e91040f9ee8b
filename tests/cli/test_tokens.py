"""`memplan token`: made, shown once, listed and revoked in the service's database; `memplan serve` asks for one."""

import json
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from service.cli import main
from service.settings import Settings
from service.store.session import Store
from service.store.single_process import sole_process
from service.usecases.tokens import Keyring


@pytest.fixture(autouse=True)
def _database(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMPLAN_DATABASE_URL", database_url)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What would have been served, instead of serving it."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: calls.append({"app": app, **options}))
    return calls


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What a command prints as JSON."""
    assert main(["token", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def opens(settings: Settings, secret: str) -> bool:
    with Store(settings) as store:
        return Keyring(store).look_up(secret) is not None


def test_a_new_token_is_all_that_is_printed_and_opens_the_service(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["token", "create", "slurm", "--scope", "verdict:read", "--scope", "plan:read"]) == 0
    shown = capsys.readouterr()
    (secret,) = shown.out.splitlines()
    assert secret not in shown.err
    assert "slurm: verdict:read, plan:read, until it is revoked" in shown.err
    assert opens(settings, secret)


def test_a_list_has_everything_but_the_secret(capsys: pytest.CaptureFixture[str]) -> None:
    made = printed(capsys, "create", "ci", "--scope", "admin", "--expires", "12h")
    (listed,) = printed(capsys, "list")
    assert listed == {name: value for name, value in made.items() if name != "token"}
    assert (listed["name"], listed["scopes"], listed["state"]) == ("ci", ["admin"], "valid")
    assert made["token"].startswith(listed["hint"])
    assert main(["token", "list"]) == 0
    table = capsys.readouterr().out
    assert listed["id"] in table
    assert made["token"] not in table


def test_an_empty_list_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "list"]) == 0
    assert capsys.readouterr().out == "there are no tokens\n"


@pytest.mark.parametrize("by", ["id", "name"])
def test_a_revoked_token_opens_nothing(settings: Settings, by: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = printed(capsys, "create", "ci", "--scope", "plan:read")
    assert printed(capsys, "revoke", made[by])["state"] == "revoked"
    assert not opens(settings, made["token"])
    assert [each["state"] for each in printed(capsys, "list")] == ["revoked"]


def test_a_name_of_two_tokens_revokes_neither(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    made = [printed(capsys, "create", "ci", "--scope", "plan:read") for _ in range(2)]
    assert main(["token", "revoke", "ci"]) == 1
    error = capsys.readouterr().err
    for each in made:
        assert each["id"] in error
        assert opens(settings, each["token"])


def test_what_is_no_token_cannot_be_revoked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "revoke", "nobody"]) == 1
    assert capsys.readouterr().err == "memplan: no token nobody; memplan token list shows them\n"


def test_tokens_are_made_while_the_service_runs(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    with sole_process(settings):
        assert opens(settings, printed(capsys, "create", "ci", "--scope", "admin")["token"])


def test_the_first_token_makes_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    monkeypatch.setenv("MEMPLAN_DATABASE_URL", url)
    assert opens(Settings(database_url=url), printed(capsys, "create", "ci", "--scope", "admin")["token"])


@pytest.mark.parametrize(
    "words",
    [
        ("create", "ci"),
        ("create", "ci", "--scope", "plan"),
        ("create", "", "--scope", "admin"),
        ("create", "x" * 101, "--scope", "admin"),
        ("create", "ci", "--scope", "admin", "--expires", "0d"),
        ("create", "ci", "--scope", "admin", "--expires", "90"),
        ("revoke",),
        (),
    ],
)
def test_what_is_wrongly_asked_makes_nothing(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["token", *words])
    capsys.readouterr()
    assert printed(capsys, "list") == []


class TestServe:
    """`memplan serve` on an address that others reach."""

    def test_without_tokens_it_is_refused_with_what_to_do(
        self, served: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["serve", "--host", "0.0.0.0"]) == 1  # noqa: S104 - nothing listens
        error = capsys.readouterr().err
        assert "memplan token create" in error
        assert "--open" in error
        assert served == []

    def test_with_a_token_it_is_served(self, served: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
        printed(capsys, "create", "ci", "--scope", "admin")
        assert main(["serve", "--host", "0.0.0.0"]) == 0  # noqa: S104 - nothing listens
        assert served[0]["app"].state.needs_tokens

    def test_a_token_that_was_revoked_is_none(
        self, served: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
    ) -> None:
        printed(capsys, "revoke", printed(capsys, "create", "ci", "--scope", "admin")["id"])
        assert main(["serve", "--host", "0.0.0.0"]) == 1  # noqa: S104 - nothing listens
        assert served == []

    @pytest.mark.parametrize("told", ["option", "setting"])
    def test_it_is_open_when_told_so(
        self, told: str, served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if told == "setting":
            monkeypatch.setenv("MEMPLAN_ACCESS", "open")
        words = ["--open"] if told == "option" else []
        assert main(["serve", "--host", "0.0.0.0", *words]) == 0  # noqa: S104 - nothing listens
        assert not served[0]["app"].state.needs_tokens

    def test_a_loopback_address_may_need_tokens_too(
        self, served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MEMPLAN_ACCESS", "tokens")
        assert main(["serve"]) == 1
        assert served == []
