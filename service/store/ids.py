"""Ids of stored things: UUIDs that sort by the time they were made, and their form on the wire."""

import secrets
from datetime import datetime
from uuid import UUID

_HEX_DIGITS = 32


def new_id(at: datetime) -> UUID:
    """Return a UUID of version 7 for something made at this moment (RFC 9562, section 5.7)."""
    milliseconds = int(at.timestamp() * 1000)
    return UUID(int=milliseconds << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62))


def id_text(prefix: str, value: UUID) -> str:
    """Return the id as clients see it: `pln` gives `pln_` and 32 hexadecimal digits."""
    return f"{prefix}_{value.hex}"


def parse_id(prefix: str, text: str) -> UUID | None:
    """Return the UUID of an id as clients see it, or None when no such id can exist."""
    head, _, digits = text.partition("_")
    if head != prefix or len(digits) != _HEX_DIGITS or not set(digits) <= set("0123456789abcdef"):
        return None
    return UUID(hex=digits)
