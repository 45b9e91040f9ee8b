"""JSON and YAML within bounds."""

import time

import pytest

from service.formats.syntax.documents import DocumentFault, read_json, read_yaml


def test_repeated_keys_are_named_and_the_last_one_wins() -> None:
    assert (read_json('{"a": 1, "b": 2, "a": 3}').value, read_json('{"a": 1, "a": 3}').repeated) == (
        {"a": 3, "b": 2},
        ["a"],
    )
    document = read_yaml("a: 1\nb: 2\na: 3\n")
    assert (document.value, document.repeated) == ({"a": 3, "b": 2}, ["a"])


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": 1,}', "{'a': 1}", '{"a": NaN}', '{"a": 1} // note', "[1" * 9, "9" * 5000]
)
def test_json_mistakes_name_their_place(text: str) -> None:
    with pytest.raises(DocumentFault) as fault:
        read_json(text)
    assert fault.value.code == "syntax"


@pytest.mark.parametrize("text", ["a: !!python/object/apply:os.system [x]", "a: !custom 1", "a: [1", "a: b: c", "\x00"])
def test_yaml_with_tags_or_mistakes_is_refused(text: str) -> None:
    with pytest.raises(DocumentFault):
        read_yaml(text)


def test_an_alias_bomb_is_refused_before_it_expands() -> None:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    start = time.process_time()

    with pytest.raises(DocumentFault):
        read_yaml("\n".join(lines))
    assert time.process_time() - start < 1


@pytest.mark.parametrize("text", ["[" * 200_000, "{a: " * 50_000, "- " * 100_000])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(DocumentFault) as fault:
        read_yaml(text)
    assert fault.value.code in {"too_deep", "syntax"}


@pytest.mark.parametrize("text", ["[" * 5_000_000, '{"a":' * 1_000_000])
def test_five_megabytes_of_brackets_are_refused_at_once(text: str) -> None:
    start = time.process_time()

    with pytest.raises(DocumentFault) as fault:
        read_json(text)
    assert fault.value.code == "too_deep"
    assert time.process_time() - start < 2
