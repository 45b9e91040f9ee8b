"""Shell arithmetic, `$(( ))`, on 64-bit integers: read by precedence climbing, never evaluated as code."""

import operator
import re
from collections.abc import Callable

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]{1,16}|\d{1,20})|\$?\{?([A-Za-z_]\w*)\}?|(\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>()!~&^|?:]))"
)
_DEEPEST = 50
_LONGEST = 2_000
_LARGEST_SHIFT = 63

Lookup = Callable[[str], int]


class ArithmeticFault(ValueError):
    """An expression outside the grammar, or one without a value (division by zero)."""


class UndecidedNumber(Exception):
    """An expression that depends on something undecided; its text is the hole's marker."""


def _divide(left: int, right: int) -> int:
    """Division that truncates towards zero, as C and the shell do."""
    if right == 0:
        raise ArithmeticFault("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _shift(count: int) -> int:
    if not 0 <= count <= _LARGEST_SHIFT:
        raise ArithmeticFault(f"{count} is no exponent or shift between 0 and {_LARGEST_SHIFT}")
    return count


_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda left, right: int(bool(left or right))),
    "&&": (2, lambda left, right: int(bool(left and right))),
    "|": (3, operator.or_),
    "^": (4, operator.xor),
    "&": (5, operator.and_),
    "==": (6, lambda left, right: int(left == right)),
    "!=": (6, lambda left, right: int(left != right)),
    "<": (7, lambda left, right: int(left < right)),
    ">": (7, lambda left, right: int(left > right)),
    "<=": (7, lambda left, right: int(left <= right)),
    ">=": (7, lambda left, right: int(left >= right)),
    "<<": (8, lambda left, right: left << _shift(right)),
    ">>": (8, lambda left, right: left >> _shift(right)),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
    "/": (10, _divide),
    "%": (10, lambda left, right: left - right * _divide(left, right)),
    "**": (12, lambda left, right: pow(left, _shift(right))),
}


def arithmetic(text: str, lookup: Lookup) -> int:
    """The value of an arithmetic expression, wrapped to 64 bits as the shell does.

    `lookup` gives the value of a variable's name and may raise. Raises ArithmeticFault for other text.
    """
    if len(text) > _LONGEST:
        raise ArithmeticFault(f"longer than {_LONGEST} characters")
    reader = _Reader(_symbols(text), lookup)
    value = reader.ternary(0)
    if reader.symbols:
        raise ArithmeticFault(f'unexpected "{reader.symbols[-1]}"')
    return value


def _symbols(text: str) -> list[str]:
    found: list[str] = []
    position = 0
    text = text.strip()
    while position < len(text):
        matched = _TOKEN.match(text, position)
        if matched is None:
            raise ArithmeticFault(f'unexpected "{text[position : position + 10]}"')
        found.append(next(each for each in matched.groups() if each))
        position = matched.end()
    return found


class _Reader:
    """Tokens are kept in reverse, so that taking one is cheap."""

    def __init__(self, symbols: list[str], lookup: Lookup) -> None:
        self.symbols = symbols[::-1]
        self._lookup = lookup

    def ternary(self, depth: int) -> int:
        condition = self._binary(1, depth)
        if not self._take("?"):
            return condition
        yes = self.ternary(depth + 1)
        if not self._take(":"):
            raise ArithmeticFault('expected ":"')
        no = self.ternary(depth + 1)
        return yes if condition else no

    def _binary(self, lowest: int, depth: int) -> int:
        left = self._unary(depth)
        while self.symbols and self.symbols[-1] in _BINARY:
            precedence, apply = _BINARY[self.symbols[-1]]
            if precedence < lowest:
                break
            self.symbols.pop()
            # `**` binds to the right, everything else to the left.
            right = self._binary(precedence if precedence == _BINARY["**"][0] else precedence + 1, depth + 1)
            left = _wrapped(apply(left, right))
        return left

    def _unary(self, depth: int) -> int:
        if depth > _DEEPEST or not self.symbols:
            raise ArithmeticFault("nested too deeply" if self.symbols else "ends too early")
        symbol = self.symbols.pop()
        if symbol in {"-", "+", "!", "~"}:
            value = self._unary(depth + 1)
            return {"-": -value, "+": value, "!": int(not value), "~": ~value}[symbol]
        if symbol == "(":
            value = self.ternary(depth + 1)
            if not self._take(")"):
                raise ArithmeticFault('expected ")"')
            return value
        if symbol[0].isdigit():
            return _literal(symbol)
        if symbol[0].isalpha() or symbol[0] == "_":
            return self._lookup(symbol)
        raise ArithmeticFault(f'unexpected "{symbol}"')

    def _take(self, symbol: str) -> bool:
        if self.symbols and self.symbols[-1] == symbol:
            self.symbols.pop()
            return True
        return False


def _literal(symbol: str) -> int:
    try:
        return int(symbol, 16 if symbol[:2].lower() == "0x" else 8 if symbol[0] == "0" else 10)
    except ValueError as fault:
        raise ArithmeticFault(f'"{symbol}" is not a number') from fault


def _wrapped(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
