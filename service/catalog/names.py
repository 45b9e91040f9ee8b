"""Names of catalogue entries: the spellings that lead to one, and what was meant by one that leads nowhere."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import ClassVar


class UnknownName(LookupError):
    """A name that leads to no single entry; `matches` are the ids it may mean: close ones, or all that share it."""

    kind: ClassVar[str] = "entry"

    def __init__(self, name: str, matches: tuple[str, ...], *, shared: bool = False) -> None:
        choices = " or ".join(matches)
        if shared:
            message = f"{self.kind} {name!r} is ambiguous: {choices}"
        else:
            message = f"no {self.kind} is called {name!r}" + (f"; did you mean {choices}?" if matches else "")
        super().__init__(message)
        self.name = name
        self.matches = matches
        self.shared = shared


class NameIndex:
    """The ids of one kind of entry, and the aliases and labels that lead to each; those in `first` win."""

    def __init__(
        self,
        error: type[UnknownName],
        aliases: Mapping[str, Iterable[str]],
        first: Mapping[str, Iterable[str]] = MappingProxyType({}),
    ) -> None:
        self._error = error
        self._ids = frozenset(aliases)
        self._owners = {**_owners(aliases), **_owners(first)}

    def resolve(self, name: str) -> str:
        """The id that a name leads to, whatever its case and separators; an id wins over another entry's alias.

        Raises the index's error, with close ids or with all the ids that share the name.
        """
        spelling = normalised(name)
        if spelling in self._ids:
            return spelling
        entries = self._owners.get(spelling, ())
        if len(entries) == 1:
            return entries[0]
        if entries:
            raise self._error(name, entries, shared=True)
        raise self._error(name, self._close(spelling))

    def _close(self, spelling: str) -> tuple[str, ...]:
        near = get_close_matches(spelling, self._owners, n=5, cutoff=0.6)
        return tuple(dict.fromkeys(entry for each in near for entry in self._owners[each]))[:3]


def _owners(aliases: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    owners: dict[str, list[str]] = defaultdict(list)
    for entry, spellings in aliases.items():
        for spelling in (entry, *spellings):
            owners[normalised(spelling)].append(entry)
    return {spelling: tuple(dict.fromkeys(entries)) for spelling, entries in owners.items()}


def normalised(name: str) -> str:
    """The form in which names are compared: lower case, one kind of separator."""
    return re.sub(r"[\s_/]+", "-", name.strip().lower())
