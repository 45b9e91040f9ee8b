"""Files of measured runs: what is read, what is refused, and how it is said."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.usecases import measured_runs
from service.usecases.measured_runs import BadLine, MeasuredRun, UnreadableRuns, read_runs
from tests.usecases.measured import JOB, lines, run


def read(*rows: object) -> list[MeasuredRun | BadLine]:
    return read_runs(io.BytesIO(lines(*rows)))


def refusal(row: object) -> str:
    [_, bad] = read(run(), row)
    assert isinstance(bad, BadLine)
    return bad.reason


def test_a_row_is_read_with_its_measurement() -> None:
    [found] = read(run())
    assert isinstance(found, MeasuredRun)
    assert (found.id, found.family, found.measured.kind, found.measured.bytes) == (
        "small",
        "example",
        "allocated",
        4 << 30,
    )
    assert found.job.model.hidden_size == 1024


def test_empty_lines_and_a_byte_order_mark_are_no_rows() -> None:
    content = b"\xef\xbb\xbf" + lines(run(), "", "  ", run(id="second")) + b"\r\n"
    assert [each.id for each in read_runs(io.BytesIO(content))] == ["small", "second"]


def test_a_bad_line_is_reported_with_its_number_and_the_others_are_read() -> None:
    found = read(run(), "", "not json", run(id="third"))
    assert [each.id for each in found] == ["small", "line 3", "third"]
    assert isinstance(found[1], BadLine)
    assert found[1].line == 3
    assert found[1].reason.startswith("line 3: Invalid JSON")


def test_a_bad_row_keeps_its_own_name_and_says_where_it_is_wrong() -> None:
    job = {**JOB, "batch": {**JOB["batch"], "sequence": 2048}}
    [_, bad] = read(run(), run(id="misspelt", job=job))
    assert isinstance(bad, BadLine)
    assert bad.id == "misspelt"
    assert "job.batch.sequence: Extra inputs are not permitted" in bad.reason


@pytest.mark.parametrize(
    ("measured", "reason"),
    [
        ({"kind": "allocated"}, "allocated needs bytes"),
        ({"kind": "allocated", "per_stage": [None, None]}, "allocated needs bytes"),
        ({"kind": "oom", "bytes": 1}, "oom is a label and has no bytes"),
        ({"kind": "reserved", "bytes": 1, "scope": "layer"}, "reserved is measured on a stage, not on a layer"),
        ({"kind": "allocated", "bytes": 0}, "greater than or equal to 1"),
        ({"kind": "allocated", "bytes": 1.5}, "valid integer"),
        ({"kind": "allocated", "bytes": 1, "gib": 2}, "measured.gib: Extra inputs are not permitted"),
        ({"kind": "host", "bytes": 1}, "measured.kind"),
        ({"kind": "oom", "moment": "first_iteration"}, "oom is not of one moment"),
    ],
)
def test_a_measurement_that_makes_no_sense_is_refused(measured: dict[str, object], reason: str) -> None:
    assert reason in refusal(run(measured=measured))


def test_further_keys_of_a_row_are_the_owners_notes() -> None:
    [found] = read(run(group="sweep 1", comment={"any": ["thing"]}))
    assert isinstance(found, MeasuredRun)


def test_deep_nesting_is_a_bad_line() -> None:
    assert "recursion limit" in refusal('{"id": "deep", "job": ' + "[" * 100_000)


def test_bytes_that_are_no_text_are_a_bad_line() -> None:
    [_, bad] = read_runs(io.BytesIO(lines(run()) + b"\n\xff\xfe\x00"))
    assert isinstance(bad, BadLine)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"{}", b"a,b\n1,2\n"])
def test_a_file_without_a_run_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableRuns):
        read_runs(io.BytesIO(content))


def test_a_long_file_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_runs, "MOST_BYTES", 2 << 20)
    with pytest.raises(UnreadableRuns, match="longer than 2 MiB"):
        read_runs(io.BytesIO(b"x" * (3 << 20)))


def test_a_long_line_is_a_bad_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_runs, "MOST_LINE_BYTES", 1 << 20)
    assert "longer than 1 MiB" in refusal(run(notes="x" * (1 << 20)))


@given(st.lists(st.binary(max_size=80), max_size=5))
def test_no_content_is_a_crash(content: list[bytes]) -> None:
    found = read_runs(io.BytesIO(b"\n".join([lines(run()), *content])))
    assert found[0].id == "small"
