"""Words of a command line whose text may hold places that could not be decided.

Such a place is a hole: an environment variable that was not given, a command substitution, a branch whose condition is
unknown. In a word's text a hole is a marker between two NUL characters, which no shell text can hold; so words stay
plain strings for splitting and matching, and only who needs a value has to look.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

HoleKind = Literal["unset", "positional", "inert", "undecided"]

_MARKER = re.compile(r"\x00(\d+)\x00")
_MOST_ALTERNATIVES = 12
_LONGEST_SHOWN = 1_000


@dataclass(frozen=True, slots=True)
class Word:
    """One word after expansion, and where it was written (`line 12`)."""

    text: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class Hole:
    """A place that could not be decided.

    `name` is what a caller has to supply (a variable, `$1`, or the text of a substitution); `alternatives` are the
    texts it stands for when both branches of a condition are known.
    """

    name: str
    kind: HoleKind
    reason: str
    where: str = ""
    alternatives: tuple[str, ...] = ()


@dataclass(slots=True)
class Holes:
    """Every hole of one import; hands out markers and reads them back."""

    _holes: list[Hole] = field(default_factory=list)
    _markers: dict[Hole, str] = field(default_factory=dict)

    def mark(self, hole: Hole) -> str:
        """The marker that stands for this hole in a text."""
        if hole not in self._markers:
            self._markers[hole] = f"\x00{len(self._holes)}\x00"
            self._holes.append(hole)
        return self._markers[hole]

    def within(self, text: str) -> list[Hole]:
        """The holes in a text, in order, each once."""
        if "\x00" not in text:
            return []
        return [self._holes[int(index)] for index in dict.fromkeys(_MARKER.findall(text))]

    def only(self, text: str) -> Hole | None:
        """The hole that is the whole text, or None."""
        matched = _MARKER.fullmatch(text)
        return self._holes[int(matched.group(1))] if matched else None

    def shown(self, text: str) -> str:
        """The text for people: each hole as its name, and no more of it than people read."""
        clipped = text[:_LONGEST_SHOWN]
        if clipped.count("\x00") % 2:
            clipped = clipped[: clipped.rindex("\x00")]
        more = "" if len(text) <= _LONGEST_SHOWN else "…"
        return _MARKER.sub(lambda matched: shown_name(self._holes[int(matched.group(1))].name), clipped) + more

    def as_variables(self, text: str) -> str:
        """The text with each hole as an expansion that shell text can hold; `variable` reads it back."""
        return _MARKER.sub(r"${__hole_\1}", text)

    def variable(self, name: str) -> str | None:
        """The marker behind a name that `as_variables` made."""
        index = name.removeprefix("__hole_")
        if index == name or not re.fullmatch(r"[0-9]{1,9}", index) or int(index) >= len(self._holes):
            return None
        return f"\x00{index}\x00"

    def alternatives(self, text: str) -> tuple[str, ...]:
        """The texts that this one may stand for: itself, or the alternatives of the hole that it is."""
        hole = self.only(text)
        return hole.alternatives if hole and hole.alternatives else (text,)

    def either(self, left: str, right: str, cause: str, where: str) -> str:
        """A text that is `left` or `right`, depending on what `cause` names: their common words, then a hole."""
        if left == right:
            return left
        common = _common_words(left, right)
        choices = dict.fromkeys((*self.alternatives(left[common:]), *self.alternatives(right[common:])))
        hole = Hole(
            name=cause,
            kind="undecided",
            reason=f"depends on {cause}, which the text does not decide",
            where=where,
            alternatives=tuple(choices)[:_MOST_ALTERNATIVES],
        )
        return left[:common] + self.mark(hole)


def shown_name(name: str) -> str:
    """A hole's name as it would be written: `$TP`, or a substitution as it stands."""
    return f"${name}" if re.fullmatch(r"\w+", name) else name


def _common_words(left: str, right: str) -> int:
    """Length of the common prefix that ends at white space, so that no word is cut in two."""
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    while length and not left[length - 1].isspace():
        length -= 1
    return length
