"""Rows of which there is one for each question: stored, or found as another transaction has stored it meanwhile."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import IntegrityError

from service.store.session import WriteSession
from service.store.tables import Base

Found = TypeVar("Found")


def add_or_find(session: WriteSession, row: Base, find: Callable[[], Found | None]) -> Found | None:
    """Store a row and return None, or what is found instead: on PostgreSQL it may be new since the caller looked."""
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:
        found = find()
        if found is None:
            raise
        return found
    return None
