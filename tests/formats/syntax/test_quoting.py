"""A text to its words: as the standard library's reader of shell words takes it apart, only faster."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.formats.syntax.quoting import split_words

PIECES = st.sampled_from(["a", "--b=c", "'d e'", '"f \\" g"', "\\ ", " ", "\n", "\\\\", '"\\$x"', "''", '""', "é"])


@given(st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=300, deadline=None)
def test_words_are_those_of_a_shell(text: str) -> None:
    try:
        expected = shlex.split(text.replace("\\\n", " "))
    except ValueError:
        with pytest.raises(ValueError, match="closing"):
            split_words(text)
    else:
        # Between double quotes a backslash goes before a dollar sign, as in a shell; the library keeps it.
        assert split_words(text) == [each.replace("\\$x", "$x") for each in expected]


def test_a_comment_begins_a_word_and_ends_with_its_line() -> None:
    assert split_words("a#b # c 'd\n e") == ["a#b", "e"]


@pytest.mark.parametrize("text", ["a 'b", 'a "b', "a\\"])
def test_a_quotation_that_is_not_closed_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="closing"):
        split_words(text)
