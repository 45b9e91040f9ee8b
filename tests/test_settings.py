"""Settings come from the environment, name the database's driver, and never show its password."""

import pytest
from pydantic import ValidationError

from service.settings import Settings

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("postgres://a@h/d", "postgresql+psycopg://a@h/d"),
        ("postgresql://a@h/d", "postgresql+psycopg://a@h/d"),
        ("postgresql+psycopg://a@h/d", "postgresql+psycopg://a@h/d"),
        ("sqlite:///plans.db", "sqlite+pysqlite:///plans.db"),
        ("sqlite:////var/lib/memplan/plans.db", "sqlite+pysqlite:////var/lib/memplan/plans.db"),
    ],
)
def test_the_driver_of_the_database_is_named(given: str, used: str) -> None:
    assert Settings(database_url=given).database_url == used


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("mysql://a@h/d", "sqlite:///FILE or postgresql://"),
        ("postgresql+asyncpg://a@h/d", "sqlite:///FILE or postgresql://"),
        ("plans.db", "sqlite:///FILE or postgresql://"),
        ("sqlite://", "must be given a file"),
        ("sqlite:///", "must be given a file"),
        ("sqlite:///:memory:", "must be given a file"),
        ("sqlite:///file:plans?mode=memory&uri=true", "must be given a file"),
    ],
)
def test_a_database_that_cannot_be_used_is_refused_with_what_can(given: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Settings(database_url=given)


def test_the_environment_sets_what_the_operator_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMPLAN_PORT", "9000")
    monkeypatch.setenv("MEMPLAN_DATABASE_URL", "postgres://h/d")
    settings = Settings()
    assert (settings.port, settings.database_url) == (9000, "postgresql+psycopg://h/d")


def test_by_default_the_service_listens_on_this_machine_and_keeps_plans_in_a_file() -> None:
    settings = Settings()
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert settings.database_url == "sqlite+pysqlite:///memplan.db"
    assert settings.body_limit_bytes == 5 * 2**20


def test_a_password_is_shown_neither_by_settings_nor_by_their_refusal() -> None:
    assert SECRET not in repr(Settings(database_url=f"postgresql://a:{SECRET}@h/d"))
    with pytest.raises(ValidationError) as refusal:
        Settings(database_url=f"mysql://a:{SECRET}@h/d")
    assert SECRET not in str(refusal.value)
