"""Creating requests that callers may repeat: the same key gives the same answer, and nothing is made twice."""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from service.logs import logger
from service.store import keys
from service.store.errors import StoreError
from service.store.keys import Name, Outcome, StoredKey
from service.store.session import Store, WriteSession
from service.usecases.errors import RejectedQuestion

LEASE: Final = timedelta(seconds=15)
"""How long a claim lasts that its process does not renew."""

KEPT: Final = timedelta(hours=24)
"""How long the end of a request is kept."""

_log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a request has ended, and the id of what it made, found or began."""

    outcome: Outcome
    made: str


class KeyReused(RejectedQuestion):
    """The key was given with another request before."""


class KeyInUse(RejectedQuestion):
    """A request with this key is being worked on."""


class Claims:
    """The keys whose requests this process is working on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: set[UUID] = set()
        self._turn = threading.Lock()

    def claim(self, name: Name, fingerprint: str) -> UUID | Ended:
        """Claim a key for a request, or return how the same request has ended. Raises KeyReused and KeyInUse."""
        now = datetime.now(UTC)
        with self._store.write() as session:
            keys.forget(session, now - KEPT)
            found = keys.claim(session, name, fingerprint, now, now + LEASE)
        if isinstance(found, StoredKey):
            return _ended(found, fingerprint)
        with self._turn:
            self._held.add(found)
        return found

    def settle(self, claim: UUID, end: Ended, session: WriteSession | None = None) -> None:
        """Keep the end of a request, in the transaction that stores what it made or in one of its own.

        Once is enough: what was kept in the former is not written again.
        """
        if session is not None:
            keys.settle(session, claim, end.outcome, end.made)
        elif claim in self._held:
            with self._store.write() as own:
                keys.settle(own, claim, end.outcome, end.made)
        self._drop(claim)

    def release(self, claim: UUID) -> None:
        """Give a key back whose request came to nothing; without a database it gives itself back."""
        self._drop(claim)
        try:
            with self._store.write() as session:
                keys.release(session, claim)
        except StoreError as error:
            _log.warning("a key could not be given back", error=str(error))

    def renew(self) -> None:
        """Say that the requests of all claims are still worked on."""
        with self._turn:
            held = frozenset(self._held)
        if not held:
            return
        try:
            with self._store.write() as session:
                keys.renew(session, held, datetime.now(UTC) + LEASE)
        except StoreError as error:
            _log.warning("keys could not be renewed", error=str(error))

    def _drop(self, claim: UUID) -> None:
        with self._turn:
            self._held.discard(claim)


def release_interrupted(store: Store) -> None:
    """Give back the keys that a process left behind, where no other process can hold any."""
    if store.is_sole:
        with store.write() as session:
            keys.release_all(session)


def _ended(found: StoredKey, fingerprint: str) -> Ended:
    if found.fingerprint != fingerprint:
        raise KeyReused("this key was given with another body before")
    if found.outcome is None or found.made is None:
        raise KeyInUse("a request with this key is being worked on")
    return Ended(found.outcome, found.made)
