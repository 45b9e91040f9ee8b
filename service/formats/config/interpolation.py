"""OmegaConf's references inside values: `${.hidden_size}`, `${model.x}`, `${multiply:4, ${.hidden_size}}`.

Only references to other keys of the same file and a few arithmetic resolvers are resolved; what is left stays as it
stands, and counts as a place to be filled in.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal

from service.formats.config.settings import Setting, Settings, normalized_key
from service.formats.syntax.values import ValueFault, number

_INNERMOST = re.compile(r"\$\{([^${}]{1,400})\}")
_LONGEST = 1_000
_MOST_STEPS = 30
_LARGEST = 10**15


def _ceil(left: Decimal, right: Decimal) -> Decimal:
    return (left / right).to_integral_value(ROUND_CEILING)


_RESOLVERS: Mapping[str, Callable[[Decimal, Decimal], Decimal]] = {
    "multiply": lambda left, right: left * right,
    "mul": lambda left, right: left * right,
    "add": lambda left, right: left + right,
    "sum": lambda left, right: left + right,
    "subtract": lambda left, right: left - right,
    "sub": lambda left, right: left - right,
    "divide": lambda left, right: left / right,
    "int_div": lambda left, right: left // right,
    "divide_floor": lambda left, right: left // right,
    "divide_ceil": _ceil,
}


def resolve(settings: Settings) -> None:
    """Replaces every value that refers to others by what it stands for, as far as that can be told."""
    for key, setting in settings.values.items():
        if isinstance(setting.value, str) and "${" in setting.value and len(setting.value) <= _LONGEST:
            settings.values[key] = replace(setting, value=_resolved(setting, settings.values))


def _resolved(setting: Setting, values: Mapping[str, Setting]) -> str:
    text = str(setting.value)
    kept: list[str] = []

    def fill(matched: re.Match[str]) -> str:
        found = _one(matched.group(1).strip(), setting.key, values)
        if found is not None:
            return found
        kept.append(matched.group(0))
        return f"\x00{len(kept) - 1}\x00"

    for _ in range(_MOST_STEPS):
        filled = _INNERMOST.sub(fill, text.replace("\x00\x00", ""))
        if filled == text or len(filled) > _LONGEST:
            break
        text = filled
    return re.sub(r"\x00(\d{1,3})\x00", lambda matched: kept[int(matched.group(1))] if kept else "", text)


def _one(inside: str, key: str, values: Mapping[str, Setting]) -> str | None:
    """What one reference or call stands for, or None."""
    name, colon, arguments = inside.partition(":")
    if colon and name.strip() in _RESOLVERS:
        return _computed(_RESOLVERS[name.strip()], arguments)
    return None if colon else _referred(inside, key, values)


def _computed(resolver: Callable[[Decimal, Decimal], Decimal], arguments: str) -> str | None:
    try:
        numbers = [Decimal(repr(number(each.strip()))) for each in arguments.split(",")]
        result = numbers[0]
        for each in numbers[1:]:
            result = resolver(result, each)
    except (ValueFault, ArithmeticError):
        return None
    if abs(result) > _LARGEST:
        return None
    return str(int(result)) if result == result.to_integral_value() else str(result)


def _referred(path: str, key: str, values: Mapping[str, Setting]) -> str | None:
    """The value of another key: relative with leading dots, else from the root or from below its first part."""
    name = normalized_key(path)
    if name.startswith("."):
        up = len(name) - len(name.lstrip("."))
        parents = key.split(".")[:-up]
        found = values.get(".".join([*parents, name.lstrip(".")]))
    else:
        found = values.get(name) or values.get(name.partition(".")[2])
    if found is None or found.key == key or isinstance(found.value, (list, dict)) or found.value is None:
        return None
    return str(found.value)
