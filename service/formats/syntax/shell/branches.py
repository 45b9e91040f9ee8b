"""What variables are after a condition that nothing decides: both branches, as far as they agree."""

from collections.abc import Mapping, Sequence

from service.formats.syntax.shell.script import Value
from service.formats.syntax.words import Holes, Word

Variables = dict[str, Value]


def merged(outcomes: Sequence[Variables], holes: Holes, cause: str, where: str) -> Variables:
    """The variables after one of several branches: equal values stay, different ones become a hole named by `cause`."""
    result = dict(outcomes[0])
    for other in outcomes[1:]:
        for name in dict.fromkeys((*result, *other)):
            left, right = result.get(name), other.get(name)
            if left is not right and left != right:
                result[name] = _either(left, right, holes, cause, where)
    return result


def _either(left: Value | None, right: Value | None, holes: Holes, cause: str, where: str) -> Value:
    if isinstance(left, tuple) and isinstance(right, tuple):
        common = 0
        while common < min(len(left), len(right)) and left[common].text == right[common].text:
            common += 1
        rest = holes.either(_flat(left[common:]), _flat(right[common:]), cause, where)
        return (*left[:common], Word(rest, where))
    return Word(holes.either(_flat(left), _flat(right), cause, where), _place(left) or _place(right))


def _flat(value: Value | None) -> str:
    """A value as one text; one that is not set is empty."""
    if value is None:
        return ""
    if isinstance(value, Word):
        return value.text
    return " ".join(each.text for each in (value.values() if isinstance(value, Mapping) else value))


def _place(value: Value | None) -> str:
    return value.where if isinstance(value, Word) else ""
