"""Argument lists as command lines hold them: `--a b`, `--a=b`, `--no-a`, `--a b c`, and `"--a b"` in one word.

Normalisation: leading dashes are dropped, letters are lowered, `-` becomes `_`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from service.formats.syntax.words import Holes, Word

Arity = Literal["none", "one", "many", "unknown"]

_FLAG = re.compile(r"--?[A-Za-z][\w.-]*")
_NUMBER = re.compile(r"-\.?\d.*")


@dataclass(frozen=True, slots=True)
class Argument:
    """One flag with its values. `key` is normalised, `spelled` as written, `where` the line."""

    key: str
    spelled: str
    values: tuple[Word, ...] = ()
    where: str = ""

    @property
    def text(self) -> str:
        """The values as one text."""
        return " ".join(each.text for each in self.values)


@dataclass(frozen=True, slots=True)
class ArgumentList:
    """Flags in order, and the words that belong to no flag (positional arguments, whole-word holes)."""

    arguments: Sequence[Argument] = ()
    loose: Sequence[Word] = ()


def normalized(flag: str) -> str:
    """`--Tensor-Model_Parallel-size` as `tensor_model_parallel_size`."""
    return flag.lstrip("-").lower().replace("-", "_")


def is_flag(text: str) -> bool:
    """Whether a word is a flag rather than a value (`-1` and `-.5` are values)."""
    return bool(_FLAG.match(text)) and not _NUMBER.fullmatch(text)


def parse_arguments(words: Iterable[Word], holes: Holes, arity: Callable[[str], Arity]) -> ArgumentList:
    """Groups words into flags with values.

    `arity` says for a normalised flag how many values it takes; it decides only whether a hole right behind a flag is
    that flag's value or a word of its own that may hold more flags.
    """
    grouped: list[tuple[Word, list[Word]]] = []
    loose: list[Word] = []
    for word in split_pairs(words):
        if is_flag(word.text):
            spelled, equals, value = word.text.partition("=")
            grouped.append((Word(spelled, word.where), [Word(value, word.where)] if equals else []))
        elif grouped and _belongs(word, grouped[-1], holes, arity):
            grouped[-1][1].append(word)
        else:
            loose.append(word)
    return ArgumentList(
        [Argument(normalized(flag.text), flag.text, tuple(values), flag.where) for flag, values in grouped], loose
    )


def _belongs(word: Word, last: tuple[Word, list[Word]], holes: Holes, arity: Callable[[str], Arity]) -> bool:
    """Whether a word that is no flag is a value of the flag before it."""
    if holes.only(word.text) is None:
        return True
    takes = arity(normalized(last[0].text))
    return takes == "many" or (takes in {"one", "unknown"} and not last[1])


def split_pairs(words: Iterable[Word]) -> Iterable[Word]:
    """Words with each `"--flag value"` that stands in one word taken apart, as unquoted expansion would."""
    for word in words:
        pieces = word.text.split() if is_flag(word.text) and "=" not in word.text.split(maxsplit=1)[0] else [word.text]
        for piece in pieces:
            yield Word(piece, word.where)
