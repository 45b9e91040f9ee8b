"""What is done about a server that hangs: one request after the other finds out whether it still does, all others fail.

Without this each request would find out by itself, in turn for the few connections, and the last would wait minutes.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from service.store.errors import StoreBusy, StoreSilent, StoreUnavailable

PAUSE_SECONDS: Final = 1.0
"""For how long a server that has not answered is not asked again."""


class Silence:
    """Whether the server was silent when it was asked last; `patience` is how long it may take to connect (seconds)."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._turn = threading.Lock()
        self._until: float | None = None

    @contextmanager
    def broken(self) -> Iterator[None]:
        """Hold while the server is asked. Raises StoreUnavailable at once while it is known to be silent."""
        if self._until is not None:
            self._take_turn()
        try:
            yield
        except StoreSilent:
            self._until = time.monotonic() + PAUSE_SECONDS
            raise
        except StoreBusy:
            # All connections may be waiting for the server.
            raise
        except BaseException:
            self._until = None
            raise
        self._until = None

    def _take_turn(self) -> None:
        with self._turn:
            now = time.monotonic()
            if self._until is not None and now < self._until:
                raise StoreUnavailable("the database is not available: its server has not answered lately")
            # The others go on failing until this one knows.
            self._until = now + self._patience + PAUSE_SECONDS
