"""One table of coercions for scalars as real files spell them: `"8"`, `5e8`, `70_000`, `yes`, `16k`.

A value may come from a shell word, JSON or YAML, so each function takes text or an already parsed scalar.
"""

import re
from decimal import Decimal

Scalar = str | int | float | bool | None

# Exponents of more than two digits would build integers of unbounded length.
_NUMBER = re.compile(r"[+-]?(\d+(_\d+)*)?(\.\d*)?([eE][+-]?\d{1,2})?")
_LONGEST_NUMBER = 60
_TRUE = frozenset({"true", "yes", "on", "1", "y"})
_FALSE = frozenset({"false", "no", "off", "0", "n"})
_KILO = 1024
_MEMORY = re.compile(r"(?P<number>[\d._]{1,20}(?:[eE]\d{1,2})?) ?(?P<prefix>[kmgtpKMGTP]?)(?P<binary>i?)[bB]?")


class ValueFault(ValueError):
    """A scalar that is not of the expected type; the text says what was found and what was expected."""


def integer(value: Scalar) -> int:
    """A whole number from `8`, `"8"`, `8.0`, `5e8` or `70_000`. Raises ValueFault for anything else."""
    number_ = _decimal(value, "an integer")
    if number_ != number_.to_integral_value():
        raise ValueFault(f"{_shown(value)} is not a whole number; expected an integer")
    return int(number_)


def number(value: Scalar) -> float:
    """A real number from `.001`, `6.0e-5` or `3`. Raises ValueFault for anything else."""
    return float(_decimal(value, "a number"))


def boolean(value: Scalar) -> bool:
    """True or false from the spellings of shell, YAML 1.1 and JSON. Raises ValueFault for anything else."""
    text = str(value).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueFault(f"{_shown(value)} is neither true nor false")


def tokens(value: Scalar) -> tuple[int, bool]:
    """A sequence length, and whether a suffix `k` was read as 1024 tokens (`8k` is 8192 for every model that says so).

    Raises ValueFault for anything that is not a whole number of tokens.
    """
    text = value.strip().lower() if isinstance(value, str) else ""
    if text.endswith("k"):
        return integer(text[:-1]) * _KILO, True
    return integer(value), False


def memory_bytes(value: Scalar) -> int:
    """Bytes of `8GB`, `80Gi`, `81920MiB`, `24gb..` (a lower bound) or `1e9`: decimal, unless the unit holds an i.

    Raises ValueFault for anything else; an unreadable size is never ignored.
    """
    text = str(value).strip().removesuffix("..")
    matched = _MEMORY.fullmatch(text)
    if isinstance(value, bool) or not matched:
        raise ValueFault(f"{_shown(value)} is no amount of memory; expected a number with a unit such as GB or GiB")
    prefix, binary = matched.group("prefix").lower(), bool(matched.group("binary"))
    scale = (1024 if binary else 1000) ** ("kmgtp".index(prefix) + 1 if prefix else 0)
    return int(_decimal(matched.group("number"), "an amount of memory") * scale)


def _decimal(value: Scalar, expected: str) -> Decimal:
    if isinstance(value, bool) or value is None:
        raise ValueFault(f"{_shown(value)} is not a number; expected {expected}")
    text = str(value).strip()
    matched = len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text)
    if not matched or not any(each.isdigit() for each in text.lower().split("e")[0]):
        raise ValueFault(f"{_shown(value)} is not a number; expected {expected}")
    return Decimal(text)


def _shown(value: Scalar) -> str:
    text = str(value)
    return f'the text "{text[:40]}"' if isinstance(value, str) else text
