"""How long a stored plan is kept; known to those who ask for plans, and so without a database."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Kept:
    """How long a plan is kept: until a moment (None: as the settings say), or for good."""

    expires_at: datetime | None = None
    pinned: bool = False

    def at_least(self, other: "Kept") -> "Kept":
        """The longer of two, where no moment is the shortest wish."""
        moments = [each for each in (self.expires_at, other.expires_at) if each is not None]
        return Kept(max(moments, default=None), self.pinned or other.pinned)
