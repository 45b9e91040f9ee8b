"""Pages of a list, newest first, by keyset: a page costs the same at any depth, and none skips or repeats a row."""

import base64
import binascii
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

from sqlalchemy import Select, Uuid, literal, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from service.store.errors import InvalidCursor
from service.store.types import UtcDateTime

T = TypeVar("T")
Row = TypeVar("Row")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR = struct.Struct(">q16s")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list, and where the next ones begin (None on the last page)."""

    items: tuple[T, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Key:
    """The place of a row in a list."""

    created_at: datetime
    id: UUID


def encode_cursor(key: Key) -> str:
    """Return the opaque text that stands for the place after this row."""
    microseconds = (key.created_at - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(_CURSOR.pack(microseconds, key.id.bytes)).decode()


def decode_cursor(text: str) -> Key:
    """Return the place that a cursor stands for. Raises InvalidCursor."""
    try:
        microseconds, raw = _CURSOR.unpack(base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True))
        return Key(_EPOCH + timedelta(microseconds=microseconds), UUID(bytes=raw))
    except (UnicodeEncodeError, binascii.Error, struct.error, OverflowError):
        raise InvalidCursor("this cursor was not given out by this service; begin without one") from None


@dataclass(frozen=True, slots=True)
class Order:
    """The two columns that a list is sorted and cut by; an index must begin with what is filtered and end with them."""

    created_at: InstrumentedAttribute[datetime]
    id: InstrumentedAttribute[UUID]


def cut(statement: Select[Row], order: Order, limit: int, cursor: str | None) -> Select[Row]:
    """Return the statement for one page, newest first, and one row more. Raises InvalidCursor."""
    if cursor is not None:
        after = decode_cursor(cursor)
        place = tuple_(literal(after.created_at, UtcDateTime()), literal(after.id, Uuid()))
        statement = statement.where(tuple_(order.created_at, order.id) < place)
    return statement.order_by(order.created_at.desc(), order.id.desc()).limit(limit + 1)


def page(
    session: Session, statement: Select[Row], order: Order, limit: int, cursor: str | None, item: Callable[[Row], T]
) -> Page[T]:
    """Return up to `limit` of the statement's rows, newest first, from the cursor on. Raises InvalidCursor."""
    rows = session.scalars(cut(statement, order, limit, cursor)).all()
    shown, next_cursor = shown_of(rows, limit)
    return Page(tuple(item(row) for row in shown), next_cursor)


def shown_of(rows: Sequence[Any], limit: int) -> tuple[Sequence[Any], str | None]:
    """Return the rows of the page that these were cut for, and the cursor of the next."""
    shown = rows[:limit]
    # The one row more tells that another page follows.
    more = len(rows) > limit
    return shown, encode_cursor(Key(shown[-1].created_at, shown[-1].id)) if more else None
