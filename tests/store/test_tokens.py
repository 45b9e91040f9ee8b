"""Tokens are stored without their secret, found by its digest, ended once, and remember when they were last used."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from service.store import tokens
from service.store.errors import NotFound
from service.store.session import Store
from service.store.tokens import NewToken, StoredToken

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)


def stored(store: Store, sha256: str = "ab", at: datetime = NOON, expires_at: datetime | None = None) -> StoredToken:
    new = NewToken(
        name="slurm",
        hint="memplan_012345",
        sha256=sha256,
        scopes=("verdict:read", "plan:read"),
        created_at=at,
        expires_at=expires_at,
    )
    with store.write() as session:
        return tokens.create(session, new)


def found(store: Store, sha256: str = "ab") -> StoredToken | None:
    with store.read() as session:
        return tokens.get_by_digest(session, sha256)


def test_a_token_comes_back_as_it_was_stored(store: Store) -> None:
    made = stored(store, expires_at=NOON + HOUR)
    assert found(store) == made
    assert made.id.startswith("tok_")
    assert (made.scopes, made.created_at, made.expires_at) == (("verdict:read", "plan:read"), NOON, NOON + HOUR)
    assert (made.last_used_at, made.revoked_at) == (None, None)
    assert found(store, "cd") is None


def test_two_tokens_never_have_the_same_secret(store: Store) -> None:
    stored(store)
    with pytest.raises(IntegrityError):
        stored(store)


def test_tokens_are_listed_newest_first(store: Store) -> None:
    made = [stored(store, str(number), NOON + number * HOUR).id for number in range(3)]
    with store.read() as session:
        assert [each.id for each in tokens.list_all(session)] == made[::-1]


def test_a_token_is_valid_until_it_expires(store: Store) -> None:
    made = stored(store, expires_at=NOON + HOUR)
    assert made.is_valid(NOON + HOUR - timedelta(microseconds=1))
    assert not made.is_valid(NOON + HOUR)
    assert stored(store, "cd").is_valid(NOON + 1000 * HOUR)


def test_a_revoked_token_stays_listed_and_keeps_its_moment(store: Store) -> None:
    made = stored(store)
    for moment in (NOON, NOON + HOUR):
        with store.write() as session:
            ended = tokens.revoke(session, made.id, moment)
        assert ended.revoked_at == NOON
    assert found(store) == ended
    assert not ended.is_valid(NOON)


@pytest.mark.parametrize("wanted", ["tok_" + "0" * 32, "slurm", "", "pln_" + "0" * 32])
def test_what_is_no_token_cannot_be_revoked(store: Store, wanted: str) -> None:
    with pytest.raises(NotFound), store.write() as session:
        tokens.revoke(session, wanted, NOON)


def test_the_last_use_is_the_latest_that_any_process_saw(store: Store) -> None:
    made = stored(store)
    for moment in (NOON + HOUR, NOON + 2 * HOUR, NOON):
        with store.write() as session:
            tokens.note_uses(session, {made.id: moment, "tok_" + "0" * 32: moment})
    assert found(store) == StoredToken(
        **{name: getattr(made, name) for name in StoredToken.__dataclass_fields__ if name != "last_used_at"},
        last_used_at=NOON + 2 * HOUR,
    )
