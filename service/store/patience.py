"""Connections to PostgreSQL that do not wait for ever: a server that hangs keeps its connections open and says nothing.

Its own timeouts do not run then, and the network's do not either, since its machine still acknowledges what arrives.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

Result = TypeVar("Result")


class ServerSilent(psycopg.OperationalError):
    """The server has not answered, though it took what was sent."""


def patient_connect(seconds: float) -> Callable[..., psycopg.Connection[Any]]:
    """Return a way to connect, of whose connections every answer must begin and end within so many seconds."""

    class Patient(psycopg.Connection[Any]):
        def wait(self, gen: PQGen[Result], interval: float = 0.1, timeout: float | None = None) -> Result:
            try:
                return super().wait(gen, interval, seconds if timeout is None else timeout)
            except psycopg.errors._WaitTimeout:  # noqa: SLF001 - what wait() says that it raises
                # What the server would still send belongs to no later statement.
                self.pgconn.finish()
                raise ServerSilent(f"the server has not answered for {seconds:g} s") from None

    def connect(*arguments: Any, **parameters: Any) -> psycopg.Connection[Any]:
        try:
            return Patient.connect(*arguments, **parameters)
        except psycopg.errors.ConnectionTimeout as error:
            raise ServerSilent(str(error)) from None

    return connect
