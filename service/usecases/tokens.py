"""Bearer tokens: issued once, known afterwards only by their digest, and checked without asking the database each time.

A secret has 256 random bits, so no slow hash is needed to guard it: there is nothing to guess.
"""

import hashlib
import hmac
import secrets
import threading
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from service.logs import logger
from service.store import tokens
from service.store.errors import StoreError
from service.store.session import Store
from service.store.tokens import NewToken, StoredToken
from service.usecases.answer_cache import AnswerCache
from service.usecases.errors import RejectedQuestion
from service.usecases.scopes import SCOPES, Scope

FRESH: Final = timedelta(seconds=10)
"""How long a token is taken as it was last read: a token that is revoked opens nothing after this."""

STALE: Final = timedelta(minutes=5)
"""How long, while the database is away: a scheduler's hook must not fail with the database that it does not need."""

USES_EVERY: Final = timedelta(minutes=1)
"""How often the moments of last use are stored."""

_PREFIX: Final = "memplan_"
_SECRET_BYTES: Final = 32
_LENGTH: Final = len(_PREFIX) + 2 * _SECRET_BYTES + 8
_SHOWN: Final = len(_PREFIX) + 6
_REMEMBERED: Final = 10_000

_log = logger(__name__)


class AmbiguousName(RejectedQuestion):
    """Several tokens have this name."""


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token and its secret, which is nowhere else and cannot be had again."""

    secret: str
    token: StoredToken


def issue(store: Store, name: str, scopes: Collection[Scope], lifetime: timedelta | None = None) -> Issued:
    """Make and store a token with these scopes, for so long or until it is revoked."""
    secret = _new_secret()
    now = datetime.now(UTC)
    new = NewToken(
        name=name,
        hint=secret[:_SHOWN],
        sha256=_sha256(secret),
        scopes=tuple(each for each in SCOPES if each in scopes),
        created_at=now,
        expires_at=None if lifetime is None else now + lifetime,
    )
    with store.write() as session:
        return Issued(secret, tokens.create(session, new))


def list_tokens(store: Store) -> list[StoredToken]:
    """Return every token, the newest first."""
    with store.read() as session:
        return tokens.list_all(session)


def has_valid_token(store: Store) -> bool:
    """Whether there is a token that opens something."""
    now = datetime.now(UTC)
    return any(each.is_valid(now) for each in list_tokens(store))


def revoke_token(store: Store, wanted: str) -> StoredToken:
    """End the token of this id, or of this name when only one that is valid has it.

    Raises NotFound and AmbiguousName.
    """
    now = datetime.now(UTC)
    with store.write() as session:
        named = [each.id for each in tokens.list_all(session) if each.name == wanted and each.is_valid(now)]
        if len(named) > 1:
            raise AmbiguousName(f"{len(named)} tokens are called {wanted}: {', '.join(named)}; name one by its id")
        return tokens.revoke(session, named[0] if named else wanted, now)


class Keyring:
    """The tokens that this process has seen, by the digest of their secret; shared by all threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: AnswerCache[str, tuple[StoredToken, datetime]] = AnswerCache(_REMEMBERED)
        self._used: dict[str, datetime] = {}
        self._stored_uses_at = datetime.now(UTC)
        self._turn = threading.Lock()

    def recall(self, secret: str) -> StoredToken | None:
        """Return the valid token of a secret if it was read lately; asks no database."""
        known = self._recall(secret, FRESH)
        return None if known is None else self._used_now(known, datetime.now(UTC))

    def was_valid(self, secret: str) -> bool:
        """Whether the secret was that of a valid token a few minutes ago."""
        return self._recall(secret, STALE) is not None

    def look_up(self, secret: str) -> StoredToken | None:
        """Return the valid token of a secret, or None. Raises StoreBusy and StoreUnavailable."""
        if not is_well_formed(secret):
            return None
        digest, now = _sha256(secret), datetime.now(UTC)
        try:
            with self._store.read() as session:
                found = tokens.get_by_digest(session, digest)
        except StoreError as error:
            known = self._recall(secret, STALE)
            if known is None:
                raise
            _log.warning("a token could not be read again", token=known.id, error=str(error))
            return known
        if found is None or not hmac.compare_digest(found.sha256, digest) or not found.is_valid(now):
            self._seen.drop(digest)
            return None
        self._seen.put(digest, (found, now))
        return self._used_now(found, now)

    def store_uses(self, *, at_once: bool = False) -> None:
        """Store when tokens were last used, if it is time to; what cannot be stored now is stored later."""
        now = datetime.now(UTC)
        if not at_once and now - self._stored_uses_at < USES_EVERY:
            return
        with self._turn:
            uses, self._used, self._stored_uses_at = self._used, {}, now
        if not uses:
            return
        try:
            with self._store.write() as session:
                tokens.note_uses(session, uses)
        except StoreError as error:
            _log.warning("last uses of tokens could not be stored", error=str(error))
            with self._turn:
                self._used = uses | self._used

    def _recall(self, secret: str, age: timedelta) -> StoredToken | None:
        if not is_well_formed(secret):
            return None
        seen, now = self._seen.get(_sha256(secret)), datetime.now(UTC)
        if seen is None or now - seen[1] > age or not seen[0].is_valid(now):
            return None
        return seen[0]

    def _used_now(self, token: StoredToken, now: datetime) -> StoredToken:
        with self._turn:
            self._used[token.id] = now
        return token


def is_well_formed(secret: str) -> bool:
    """Whether a text can be a secret of ours: what was cut or mistyped needs no look into the database."""
    if len(secret) != _LENGTH or not secret.startswith(_PREFIX) or not secret.isascii():
        return False
    return secret[-8:] == _checksum(secret[:-8])


def _new_secret() -> str:
    # The prefix lets people and scanners for leaked secrets see what it is.
    body = _PREFIX + secrets.token_hex(_SECRET_BYTES)
    return body + _checksum(body)


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
