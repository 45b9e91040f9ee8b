"""Two tiny languages inside flag values: lists of layers such as `([0]*3+[1]*58)`, and pipeline layouts.

Both are read by hand, never evaluated as code, and their expansion is bounded.
"""

import re
from collections.abc import Iterator

LONGEST_EXPANSION = 10_000
_DEEPEST = 20
_TOKEN = re.compile(r"\s*(?:(\d{1,6})|([\[\](),+*]))")
_LAYOUT = re.compile(r"[EtmL|(),*\d\s]*")


class ExpressionFault(ValueError):
    """Text that is not in the small grammar, or expands beyond the bound."""


def layer_pattern(text: str) -> int | list[int]:
    """`N`, or the list of integers that an expression of lists, `+`, `*` and brackets stands for.

    Raises ExpressionFault for other text or more than 10,000 entries.
    """
    if len(text) > 4 * LONGEST_EXPANSION:
        raise ExpressionFault(f"longer than {4 * LONGEST_EXPANSION} characters")
    parser = _Lists(_symbols(text))
    value = parser.sum(0)
    if parser.symbols:
        raise ExpressionFault(f'unexpected "{parser.symbols[-1]}"')
    return value


class _Lists:
    """Recursive descent over `sum := product ('+' product)*`; symbols are kept in reverse to pop cheaply."""

    def __init__(self, symbols: list[str]) -> None:
        self.symbols = symbols[::-1]

    def sum(self, depth: int) -> int | list[int]:
        value = self.product(depth)
        while self._take("+"):
            value = _add(value, self.product(depth))
        return value

    def product(self, depth: int) -> int | list[int]:
        value = self.atom(depth)
        while self._take("*"):
            value = _multiply(value, self.atom(depth))
        return value

    def atom(self, depth: int) -> int | list[int]:
        if depth > _DEEPEST or not self.symbols:
            raise ExpressionFault("nested too deeply" if self.symbols else "ends too early")
        symbol = self.symbols.pop()
        if symbol.isdigit():
            return int(symbol)
        if symbol == "(":
            value = self.sum(depth + 1)
            self._expect(")")
            return value
        if symbol == "[":
            return self._items(depth)
        raise ExpressionFault(f'unexpected "{symbol}"')

    def _items(self, depth: int) -> list[int]:
        items: list[int] = []
        while not self._take("]"):
            value = self.sum(depth + 1)
            if isinstance(value, list):
                raise ExpressionFault("a list inside a list")
            items.append(value)
            if not self._take(","):
                self._expect("]")
                break
        return _bounded(items)

    def _take(self, symbol: str) -> bool:
        if self.symbols and self.symbols[-1] == symbol:
            self.symbols.pop()
            return True
        return False

    def _expect(self, symbol: str) -> None:
        if not self._take(symbol):
            raise ExpressionFault(f'expected "{symbol}"')


def _symbols(text: str) -> list[str]:
    found: list[str] = []
    position = 0
    text = text.strip()
    while position < len(text):
        matched = _TOKEN.match(text, position)
        if matched is None:
            raise ExpressionFault(f'unexpected "{text[position : position + 10]}"')
        found.append(matched.group(1) or matched.group(2))
        position = matched.end()
    return found


def _add(left: int | list[int], right: int | list[int]) -> int | list[int]:
    if isinstance(left, list) and isinstance(right, list):
        return _bounded(left + right)
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    raise ExpressionFault("a number and a list cannot be added")


def _multiply(left: int | list[int], right: int | list[int]) -> int | list[int]:
    if isinstance(left, list) and isinstance(right, list):
        raise ExpressionFault("two lists cannot be multiplied")
    if isinstance(left, int) and isinstance(right, int):
        return _small(left * right)
    items, times = (left, right) if isinstance(left, list) else (right, left)
    assert isinstance(items, list)  # noqa: S101  (narrows for the type checker; both cases above are excluded)
    assert isinstance(times, int)  # noqa: S101
    if len(items) * times > LONGEST_EXPANSION:
        raise ExpressionFault(f"expands beyond {LONGEST_EXPANSION} entries")
    return items * times


def _small(value: int) -> int:
    if value > LONGEST_EXPANSION**2:
        raise ExpressionFault("too large a number")
    return value


def _bounded(items: list[int]) -> list[int]:
    if len(items) > LONGEST_EXPANSION:
        raise ExpressionFault(f"expands beyond {LONGEST_EXPANSION} entries")
    return items


def layout_stages(text: str) -> list[str]:
    """The stages of a Megatron pipeline layout, each as its letters: `Et*2|(t|)*2L` is `["Ett", "t", "t", "L"]`.

    Raises ExpressionFault for other characters, unbalanced brackets or an expansion beyond 10,000 letters.
    """
    if len(text) > LONGEST_EXPANSION or not _LAYOUT.fullmatch(text):
        raise ExpressionFault("expected only E, t, m, L, |, brackets and *N")
    letters = _letters(iter(re.findall(r"[EtmL|()]|\*\d{1,6}", re.sub(r"[\s,]", "", text))), 0)
    return letters.split("|")


def _letters(symbols: Iterator[str], depth: int) -> str:
    """The expanded letters up to the matching `)`, or to the end at depth 0."""
    pieces: list[str] = []
    length = 0
    for symbol in symbols:
        if symbol == ")" and depth:
            return "".join(pieces)
        if symbol == ")" or depth > _DEEPEST:
            raise ExpressionFault('unbalanced ")"' if symbol == ")" else "nested too deeply")
        if symbol.startswith("*"):
            if not pieces or length + len(pieces[-1]) * int(symbol[1:]) > LONGEST_EXPANSION:
                raise ExpressionFault("repeats nothing, or too much")
            pieces[-1] *= int(symbol[1:])
        else:
            pieces.append(_letters(symbols, depth + 1) if symbol == "(" else symbol)
        length = length + len(pieces[-1])
    if depth:
        raise ExpressionFault('unbalanced "("')
    return "".join(pieces)
