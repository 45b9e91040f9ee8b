"""YAML's values: what the safe loader builds, within bounds that hold before anything is built."""

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from service.formats.syntax.documents import DocumentFault, read_yaml, read_yaml_documents
from service.formats.syntax.yaml_values import MOST_EVENTS

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12) | st.dates()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
)
# Texts that YAML 1.1 reads as something else than a text, or nearly so.
WORDS = st.sampled_from(
    ["yes", "no", "on", "Off", "~", "null", "1_000", "0x1F", "017", "0b101", "1:30", "1e3", "1.5e+3", "3e-6", ".inf",
     "-.5", "2001-01-01", "2001-12-14 21:59:43.10 -5", "=", "'8'", '"8"', "8k", "!!str 8", "!!int '8'", "!!float 3"]
)  # fmt: skip


@given(VALUES, st.booleans())
@settings(max_examples=200, deadline=None)
def test_what_is_written_is_read(value: Any, flow: bool) -> None:
    text = yaml.safe_dump(value, default_flow_style=flow, sort_keys=False)

    assert read_yaml(text).value == yaml.safe_load(text) == value


@given(st.lists(WORDS, min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_words_stand_for_what_the_safe_loader_says(words: list[str]) -> None:
    text = "".join(f"- {word}\n- {{a: {word}}}\n" for word in words)

    assert read_yaml(text).value == yaml.load(text, Loader=_ValueIsText)  # noqa: S506  (the safe loader with one rule more)


class _ValueIsText(yaml.SafeLoader):
    """The safe loader, which has no rule for a lone `=`; it is a text here."""


_ValueIsText.add_constructor("tag:yaml.org,2002:value", yaml.SafeLoader.construct_yaml_str)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n",
        "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc:\n  y: 9\n  <<: [*a, *b]\n",
        "a: &a [1, 2]\nb: *a\nc: [*a, *a]\n",
        "&k key: &v value\n*v : *k\n",
        "? a\n: b\n",
        "- |\n  text\n  more\n- >-\n  folded\n  text\n",
        "",
        "--- 8\n...\n",
    ],
)
def test_anchors_merges_and_blocks_are_read_as_the_safe_loader_reads_them(text: str) -> None:
    assert read_yaml(text).value == yaml.safe_load(text)


def test_every_document_of_a_stream_is_read_and_anchors_end_with_theirs() -> None:
    assert read_yaml_documents("--- &a 1\n--- {b: 2}\n---\n").value == [1, {"b": 2}, None]
    with pytest.raises(DocumentFault, match=r"line 2: \*a refers to nothing above it"):
        read_yaml_documents("--- &a 1\n--- *a\n")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: !!python/object/apply:os.system [x]", "syntax"),
        ("a: !!python/name:os.system", "syntax"),
        ("a: !include secrets.yaml", "syntax"),
        ("!!set {a, b}", "syntax"),
        ("a: !!map 1", "syntax"),
        ("a: !!int eight", "syntax"),
        ("&a [*a]", "syntax"),
        ("{[1]: 2}", "syntax"),
        ("{<<: 1}", "syntax"),
        ("a: 1\n---\nb: 2\n", "syntax"),
        ("a: 2001-99-99", "syntax"),
        ("a: \ud800", "syntax"),
        ("[" * 101 + "]" * 101, "too_deep"),
        ("- " * (MOST_EVENTS + 1), "too_deep"),
        ("- a\n" * MOST_EVENTS, "too_large"),
    ],
)
def test_what_is_no_plain_value_or_too_much_is_refused(text: str, code: str) -> None:
    with pytest.raises(DocumentFault) as fault:
        read_yaml(text)
    assert fault.value.code == code


@pytest.mark.parametrize("fan", [2, 3, 10])
def test_what_aliases_repeat_counts_each_time(fan: int) -> None:
    """Three references a level make the most of fifty aliases: 43 million values."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * fan)}]" for n in range(1, 25)]

    with pytest.raises(DocumentFault) as fault:
        read_yaml("\n".join(lines))
    assert fault.value.code == "too_large"


def test_aliases_cannot_nest_deeper_than_brackets_may() -> None:
    lines = ["a0: &a0 x"] + [f"a{n}: &a{n} {'[' * 40}*a{n - 1}{']' * 40}" for n in range(1, 60)]

    with pytest.raises(DocumentFault) as fault:
        read_yaml("\n".join(lines))
    assert fault.value.code == "too_deep"
