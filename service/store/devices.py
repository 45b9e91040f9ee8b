"""Stored definitions of devices: what an operator says over the catalogue, one document for each id."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from service.store.errors import NotFound
from service.store.session import WriteSession
from service.store.tables import DeviceRow


@dataclass(frozen=True, slots=True)
class StoredDevice:
    """What was last said of a device, and when."""

    id: str
    definition: Mapping[str, Any]
    updated_at: datetime


def list_all(session: Session) -> tuple[StoredDevice, ...]:
    """Return every definition, by id."""
    rows = session.scalars(select(DeviceRow).order_by(DeviceRow.id)).all()
    return tuple(StoredDevice(row.id, row.definition, row.updated_at) for row in rows)


def lock(session: WriteSession) -> None:
    """Keep other writers of definitions out until the transaction ends: what is read stays so until it is changed."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE devices IN SHARE ROW EXCLUSIVE MODE"))


def put(session: WriteSession, device_id: str, definition: Mapping[str, Any], at: datetime | None = None) -> None:
    """Store a definition in the place of the one that there was."""
    now = at or datetime.now(UTC)
    session.merge(DeviceRow(id=device_id, definition=dict(definition), updated_at=now))
    session.flush()


def delete(session: WriteSession, device_id: str) -> None:
    """Remove the definition of a device. Raises NotFound."""
    row = session.get(DeviceRow, device_id)
    if row is None:
        raise NotFound("device", device_id)
    session.delete(row)
    session.flush()
