"""What every dialect is: a name, a guess whether a source is written in it, and a reader."""

from collections.abc import Callable
from dataclasses import dataclass

from service.formats.imported import Imported
from service.formats.source import ConfigSource


@dataclass(frozen=True, slots=True)
class Dialect:
    """One foreign format. `recognise` answers between 0 (certainly not) and 1 (certainly)."""

    name: str
    recognise: Callable[[ConfigSource], float]
    read: Callable[[ConfigSource, float], Imported]
