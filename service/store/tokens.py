"""Stored bearer tokens; the secrets themselves are never here, only their digests."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from service.store.errors import NotFound
from service.store.ids import id_text, new_id, parse_id
from service.store.session import WriteSession
from service.store.tables import TokenRow

PREFIX = "tok"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token to be stored: its scopes, the SHA-256 of its secret in hexadecimal, and the first characters of that."""

    name: str
    hint: str
    sha256: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredToken(NewToken):
    """A token as it is stored."""

    id: str
    last_used_at: datetime | None
    revoked_at: datetime | None

    def is_valid(self, now: datetime) -> bool:
        """Whether it opens anything at this moment."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def create(session: WriteSession, new: NewToken) -> StoredToken:
    """Store a token."""
    facts = {name: getattr(new, name) for name in NewToken.__dataclass_fields__}
    row = TokenRow(id=new_id(new.created_at), **{**facts, "scopes": " ".join(new.scopes)})
    session.add(row)
    session.flush()
    return _stored(row)


def get_by_digest(session: Session, sha256: str) -> StoredToken | None:
    """Return the token whose secret has this SHA-256, or None."""
    row = session.scalar(select(TokenRow).where(TokenRow.sha256 == sha256))
    return None if row is None else _stored(row)


def list_all(session: Session) -> list[StoredToken]:
    """Return every token, the newest first, those that open nothing any more included."""
    return [_stored(row) for row in session.scalars(select(TokenRow).order_by(TokenRow.id.desc()))]


def revoke(session: WriteSession, token_id: str, now: datetime) -> StoredToken:
    """End a token; one that was revoked before keeps its moment. Raises NotFound."""
    wanted = parse_id(PREFIX, token_id)
    row = None if wanted is None else session.get(TokenRow, wanted, with_for_update=True)
    if row is None:
        raise NotFound("token", token_id)
    row.revoked_at = row.revoked_at or now
    session.flush()
    return _stored(row)


def note_uses(session: WriteSession, uses: Mapping[str, datetime]) -> None:
    """Store when tokens were last used, by their ids; of two processes the later moment stays."""
    # In one order, so that processes that store at the same time do not wait for each other in a circle.
    for token_id, moment in sorted(uses.items()):
        is_later = TokenRow.last_used_at.is_(None) | (TokenRow.last_used_at < moment)
        session.execute(
            update(TokenRow).where(TokenRow.id == parse_id(PREFIX, token_id), is_later).values(last_used_at=moment)
        )


def _stored(row: TokenRow) -> StoredToken:
    facts = {name: getattr(row, name) for name in StoredToken.__dataclass_fields__}
    return StoredToken(**{**facts, "id": id_text(PREFIX, row.id), "scopes": tuple(row.scopes.split(" "))})
