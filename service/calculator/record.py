"""Dataclasses of which an answer makes hundreds: frozen to the type checker, and as fast to make as others.

At run time a frozen dataclass sets each field by a call of its own, which took a sixth of a verdict's time.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen: bool, slots: bool) -> object:
        """Make a dataclass that can be hashed like a frozen one; that nothing sets its fields is checked before."""
        return dataclass(slots=slots, unsafe_hash=frozen)
