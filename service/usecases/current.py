"""What an operator has said of one kind of thing, as this process knows it: its own changes at once, others' soon."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Generic, TypeVar

from service.logs import logger
from service.store import definitions
from service.store.definitions import Kind, StoredDefinition
from service.store.errors import StoreError
from service.store.session import Store, WriteSession
from service.usecases.errors import TooManyDefinitions

MOST: Final = 1000
"""Definitions of one kind; all of them are in memory."""

Listing = TypeVar("Listing")
Stored = Mapping[str, StoredDefinition]

_log = logger(__name__)


class Current(Generic[Listing]):
    """The definitions of a kind as of now, in the form that `listing_of` makes of them."""

    def __init__(self, store: Store, kind: Kind, listing_of: Callable[[Stored], Listing]) -> None:
        self._store = store
        self._kind = kind
        self._listing_of = listing_of
        self._turn = threading.RLock()
        self._stored: Stored = {}
        self.listing = listing_of({})
        self.refresh()

    def refresh(self) -> None:
        """Look at what is stored; without a database all stays as it was."""
        # In turn with changes, so that what was read before one is not taken for newer.
        with self._turn:
            try:
                with self._store.read() as session:
                    stored = definitions.list_all(session, self._kind)
            except StoreError as error:
                _log.warning("definitions could not be read", kind=self._kind, error=str(error))
                return
            if stored != self._stored:
                self.listing, self._stored = self._listing_of(stored), stored

    @contextmanager
    def changing(self) -> Iterator[tuple[WriteSession, Stored]]:
        """Open the one transaction that changes definitions of this kind, and give what is stored before it."""
        with self._turn:
            with self._store.write() as session:
                definitions.lock(session, self._kind)
                yield session, definitions.list_all(session, self._kind)
            self.refresh()

    def put(self, session: WriteSession, stored: Stored, name: str, document: Mapping[str, object]) -> None:
        """Store a definition in the place of the one that there was. Raises TooManyDefinitions."""
        if name not in stored and len(stored) >= MOST:
            raise TooManyDefinitions(f"{len(stored)} are stored, as many as may be")
        definitions.put(session, self._kind, name, document)

    def delete(self, session: WriteSession, name: str) -> None:
        """Remove a definition. Raises NotFound."""
        definitions.delete(session, self._kind, name)
