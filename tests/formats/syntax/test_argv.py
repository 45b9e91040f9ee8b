"""Argument lists in the forms that command lines give them."""

import pytest

from service.formats.syntax.argv import parse_arguments
from service.formats.syntax.words import Hole, Holes, Word


def pairs(*words: str) -> list[tuple[str, str]]:
    parsed = parse_arguments([Word(each) for each in words], Holes(), lambda _key: "unknown")
    return [(each.key, each.text) for each in parsed.arguments]


@pytest.mark.parametrize(
    "words",
    [("--a-b", "1", "--c"), ("--a-b=1", "--c"), ("--a_b", "1", "--C"), ("--a-b 1", "--c"), ("--a-b 1 --c",)],
)
def test_every_spelling_is_the_same(words: tuple[str, ...]) -> None:
    assert pairs(*words) == [("a_b", "1"), ("c", "")]


def test_several_values_and_negative_numbers() -> None:
    assert pairs("--rampup", "16", "16", "100", "--eval-iters", "-1", "--x", "-.5") == [
        ("rampup", "16 16 100"), ("eval_iters", "-1"), ("x", "-.5"),
    ]  # fmt: skip


def test_a_value_may_hold_blanks_and_equals_signs() -> None:
    assert pairs("--schedule", "0:16 2.4B:320", "--json={'a': 1}") == [
        ("schedule", "0:16 2.4B:320"), ("json", "{'a': 1}"),
    ]  # fmt: skip


def test_a_hole_behind_a_switch_is_a_word_of_its_own() -> None:
    holes = Holes()
    marker = holes.mark(Hole("EXTRA", "unset", ""))
    words = [Word("--switch"), Word(marker), Word("--value"), Word(marker)]

    parsed = parse_arguments(words, holes, {"switch": "none", "value": "one"}.__getitem__)

    assert [(each.key, len(each.values)) for each in parsed.arguments] == [("switch", 0), ("value", 1)]
    assert [each.text for each in parsed.loose] == [marker]
