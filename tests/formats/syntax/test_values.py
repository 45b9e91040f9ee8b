"""Scalars as real files spell them."""

import pytest

from service.formats.syntax.values import ValueFault, boolean, integer, number, tokens


@pytest.mark.parametrize(
    ("written", "value"),
    [("8", 8), (8, 8), (8.0, 8), ("8.0", 8), ("5e8", 500_000_000), ("70_000", 70_000), ("1_000", 1000), (" 3 ", 3),
     ("-1", -1), ("+2", 2), ("1e2", 100)],
)  # fmt: skip
def test_whole_numbers(written: str | float, value: int) -> None:
    assert integer(written) == value


@pytest.mark.parametrize(
    "written",
    ["eight", "", "8.5", "1e-3", "0x10", "8k", True, None, "1e999999999", "9" * 5000, "_1", "1__0", ".", "e5"],
)
def test_other_texts_are_refused_with_what_was_found(written: str | bool | None) -> None:
    with pytest.raises(ValueFault, match="expected an integer"):
        integer(written)


@pytest.mark.parametrize(("written", "value"), [(".001", 0.001), ("6.0e-5", 6e-5), ("3", 3.0), (0.1, 0.1), ("1.", 1.0)])
def test_real_numbers(written: str | float, value: float) -> None:
    assert number(written) == value


@pytest.mark.parametrize("written", ["true", "True", True, "yes", "on", "1", 1, "Y"])
def test_true_has_many_spellings(written: str | int) -> None:
    assert boolean(written)


@pytest.mark.parametrize("written", ["false", "False", False, "no", "off", "0", 0, "n"])
def test_so_does_false(written: str | int) -> None:
    assert not boolean(written)


@pytest.mark.parametrize("written", ["", "maybe", None, 2])
def test_nothing_else_is_a_truth_value(written: str | int | None) -> None:
    with pytest.raises(ValueFault):
        boolean(written)


@pytest.mark.parametrize(("written", "value"), [("8k", 8192), ("128K", 131072), ("16k", 16384), ("4096", 4096)])
def test_thousands_of_tokens_are_powers_of_two(written: str, value: int) -> None:
    assert tokens(written) == (value, written[-1] in "kK")
