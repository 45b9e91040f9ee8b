"""A server that hangs: what is sent to it is taken, acknowledged by its machine, and never answered."""

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Relay:
    """Passes bytes between its port and a server as long as it flows."""

    host: str
    port: int
    listener: socket.socket
    flows: threading.Event = field(default_factory=threading.Event)

    @property
    def own_port(self) -> int:
        port: int = self.listener.getsockname()[1]
        return port

    @contextmanager
    def stalled(self) -> Iterator[None]:
        self.flows.clear()
        try:
            yield
        finally:
            self.flows.set()

    def accept(self) -> None:
        """Serve until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection((self.host, self.port)) as server:
            while True:
                readable, _, _ = select.select([client, server], [], [])
                for each in readable:
                    if not (data := each.recv(65536)):
                        return
                    self.flows.wait()
                    (server if each is client else client).sendall(data)


@contextmanager
def relay(host: str, port: int) -> Iterator[Relay]:
    """A relay in front of a server, on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = Relay(host, port, listener)
        found.flows.set()
        threading.Thread(target=found.accept, daemon=True).start()
        yield found
        listener.shutdown(socket.SHUT_RDWR)
