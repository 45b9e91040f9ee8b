"""Keys that make a creating request safe to repeat: claimed while it is worked on, then kept with its end."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID, uuid4

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

from service.store.session import WriteSession
from service.store.tables import KeyRow

Outcome = Literal["created", "found", "begun"]
"""How a request ended: it made something, found that it was made before, or began an operation that makes it."""


@dataclass(frozen=True, slots=True)
class Name:
    """Whose key, on which route, and the key itself: the same text of another caller is another key."""

    caller: str
    route: str
    key: str


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key as it is stored; without an outcome its request is still worked on, until the claim expires."""

    fingerprint: str
    outcome: Outcome | None
    made: str | None


def claim(session: WriteSession, name: Name, fingerprint: str, now: datetime, expires_at: datetime) -> StoredKey | UUID:
    """Claim a key for a request and return the claim, or return what the key stands for already.

    A claim that has expired is taken over by the same request.
    """
    new = uuid4()
    found = _find(session, name)
    if found is None:
        row = KeyRow(
            caller=name.caller,
            route=name.route,
            key=name.key,
            claim=new,
            fingerprint=fingerprint,
            created_at=now,
            expires_at=expires_at,
        )
        try:
            with session.begin_nested():
                session.add(row)
        except IntegrityError:
            # On PostgreSQL another transaction may have claimed it since we looked.
            found = _find(session, name)
            if found is None:
                raise
        else:
            return new
    if found.outcome is None and found.expires_at <= now and found.fingerprint == fingerprint:
        found.claim, found.expires_at = new, expires_at
        session.flush()
        return new
    return StoredKey(found.fingerprint, found.outcome, found.made)


def settle(session: WriteSession, held: UUID, outcome: Outcome, made: str) -> None:
    """Keep the end of a claimed request, and the id of what it made or found; the first end counts."""
    _update(session, [held], outcome=outcome, made=made)


def renew(session: WriteSession, claims: Collection[UUID], expires_at: datetime) -> None:
    """Say that claimed requests are still worked on."""
    _update(session, claims, expires_at=expires_at)


def release(session: WriteSession, held: UUID) -> None:
    """Give a key back whose request came to nothing."""
    session.execute(delete(KeyRow).where(KeyRow.claim == held, KeyRow.outcome.is_(None)))


def release_all(session: WriteSession) -> None:
    """Give back every key whose request has not ended."""
    session.execute(delete(KeyRow).where(KeyRow.outcome.is_(None)))


def forget(session: WriteSession, before: datetime) -> None:
    """Forget the keys of requests made before a moment."""
    session.execute(delete(KeyRow).where(KeyRow.created_at < before))


def _find(session: WriteSession, name: Name) -> KeyRow | None:
    statement = select(KeyRow).where(KeyRow.caller == name.caller, KeyRow.route == name.route, KeyRow.key == name.key)
    return session.scalar(statement.with_for_update())


def _update(session: WriteSession, claims: Collection[UUID], **values: object) -> None:
    session.execute(update(KeyRow).where(KeyRow.claim.in_(claims), KeyRow.outcome.is_(None)).values(**values))
