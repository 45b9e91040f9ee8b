"""Stored definitions: what an operator says of devices and queues, one document for each id."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from service.store.errors import NotFound
from service.store.session import WriteSession
from service.store.tables import DefinitionRow, DeviceRow, PolicyRow

Kind = Literal["device", "policy"]

_ROWS: Mapping[Kind, type[DefinitionRow]] = {"device": DeviceRow, "policy": PolicyRow}


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """What was last said of a device or a queue, and when."""

    id: str
    definition: Mapping[str, Any]
    updated_at: datetime


def list_all(session: Session, kind: Kind) -> dict[str, StoredDefinition]:
    """Return every definition of a kind, by id."""
    row = _ROWS[kind]
    found = session.scalars(select(row).order_by(row.id)).all()
    return {each.id: StoredDefinition(each.id, each.definition, each.updated_at) for each in found}


def lock(session: WriteSession, kind: Kind) -> None:
    """Keep other writers of a kind out until the transaction ends: what is read stays so until it is changed."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"LOCK TABLE {_ROWS[kind].__tablename__} IN SHARE ROW EXCLUSIVE MODE"))


def put(session: WriteSession, kind: Kind, name: str, definition: Mapping[str, Any]) -> None:
    """Store a definition in the place of the one that there was."""
    session.merge(_ROWS[kind](id=name, definition=dict(definition), updated_at=datetime.now(UTC)))
    session.flush()


def delete(session: WriteSession, kind: Kind, name: str) -> None:
    """Remove a definition. Raises NotFound."""
    row = session.get(_ROWS[kind], name)
    if row is None:
        raise NotFound(kind, name)
    session.delete(row)
    session.flush()
