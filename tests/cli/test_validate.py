"""`memplan validate`: what it prints, what it answers as JSON, and its exit codes."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from service.cli import main
from tests.usecases.measured import lines, run


@pytest.fixture
def runs(tmp_path: Path) -> str:
    path = tmp_path / "runs.jsonl"
    rows = (
        run(),
        run(id="off", measured={"kind": "device", "bytes": 1 << 30}, family="far"),
        run(id="dead", measured={"kind": "oom"}),
        run(id="stages", measured={"kind": "allocated", "per_stage": [4 << 30, 3 << 30]}),
        run(id="unknown", device="abacus"),
        "nonsense",
    )
    path.write_bytes(lines(*rows))
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["validate", *arguments, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_the_answer_has_every_row_in_the_order_of_the_file(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = answer(capsys, runs)["rows"]
    assert [each["id"] for each in rows] == ["small", "off", "dead", "stages", "unknown", "line 6"]
    keys = {"id", "kind", "predicted_bytes", "low_bytes", "high_bytes", "measured_bytes", "verdict", "skipped"}
    assert all(keys <= each.keys() for each in rows)
    assert rows[0]["skipped"] is None
    assert rows[0]["low_bytes"] <= rows[0]["predicted_bytes"] <= rows[0]["high_bytes"]
    assert (rows[2]["verdict"], rows[2]["measured_bytes"]) == ("fits", None)
    assert [each["measured_bytes"] for each in rows[3]["stages"]] == [4 << 30, 3 << 30]
    assert rows[4]["skipped"] == "there is no device 'abacus'"
    assert rows[5]["predicted_bytes"] is None


def test_the_answer_has_the_errors_of_each_group(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    groups = {each["group"]: each for each in answer(capsys, runs)["groups"]}
    assert groups.keys() == {"example", "far", "unreadable"}
    example = groups["example"]
    assert (example["rows"], example["skipped"], example["compared"]) == (4, 1, 2)
    assert example["labels"]["verdicts"] == {"fits": {}, "oom": {"fits": 1}}
    assert groups["far"]["worst_error"] == groups["far"]["median_error"] > 1


def test_rows_are_grouped_as_asked(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    groups = answer(capsys, runs, "--by", "kind")["groups"]
    assert {each["group"] for each in groups} == {"allocated", "device", "oom", "unreadable"}


def test_the_text_shows_the_worst_row_first_and_what_was_skipped(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", runs]) == 0
    text = capsys.readouterr().out
    assert text.index("off ") < text.index("small ")
    assert "Labels on the wrong side" in text
    assert "0.0% of 1 labels right, 100.0% of oom called fits" in text
    assert "there is no device 'abacus'" in text
    assert "line 6: Invalid JSON" in text


def test_standard_input_is_a_file(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines(run()))))
    assert [each["id"] for each in answer(capsys, "-")["rows"]] == ["small"]


@pytest.mark.parametrize("content", [b"", b"id,job\n"])
def test_a_file_that_holds_no_run_is_unreadable(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(content)
    assert main(["validate", str(path)]) == 2
    assert "holds no measured run" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_unreadable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(tmp_path / "none.jsonl")]) == 2
    assert "cannot read" in capsys.readouterr().err
    assert main(["validate", str(tmp_path)]) == 2
