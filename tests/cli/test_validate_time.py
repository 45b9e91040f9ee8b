"""`memplan validate-time`: what it prints, what it answers as JSON, and its exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from service.cli import main
from tests.usecases.measured import lines
from tests.usecases.timed import timed, with_pipeline


@pytest.fixture
def runs(tmp_path: Path) -> str:
    path = tmp_path / "runs.jsonl"
    layouts = [
        timed(id=f"pipeline {pipeline}", job=with_pipeline(pipeline), measured={"step_seconds": seconds})
        for pipeline, seconds in ((1, 0.2), (2, 0.3), (4, 0.5))
    ]
    path.write_bytes(
        lines(
            *layouts,
            timed(id="unknown", device="abacus"),
            timed(id="stalled", measured={"step_seconds": 9}),
            "nonsense",
        )
    )
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["validate-time", *arguments, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_the_answer_has_every_row_in_the_order_of_the_file(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = answer(capsys, runs)["rows"]
    assert [each["id"] for each in rows] == ["pipeline 1", "pipeline 2", "pipeline 4", "unknown", "stalled", "line 6"]
    assert {"id", "group", "predicted_step_seconds", "skipped"} <= rows[0].keys()
    assert [each["skipped"] is None for each in rows] == [True, True, True, False, True, False]
    assert rows[0]["predicted_step_seconds"] > 0
    assert rows[3]["predicted_step_seconds"] is None


def test_the_answer_has_the_errors_and_the_ranking_of_each_group(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    groups = {each["group"]: each for each in answer(capsys, runs)["groups"]}
    assert groups.keys() == {"example", "unreadable"}
    example = groups["example"]
    assert (example["rows"], example["skipped"], example["stalled"], example["compared"]) == (5, 1, 1, 3)
    assert (example["rankings"], example["pairs"]) == (1, 3)
    assert example["rank_correlation"] == pytest.approx(1.0)
    assert (example["pair_accuracy"], example["best_loss"], example["best_of_three_loss"]) == (1.0, 0.0, 0.0)
    assert groups["unreadable"]["mean_error"] is None


def test_the_text_has_families_and_then_groups(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate-time", runs]) == 0
    text = capsys.readouterr().out
    assert text.index(" example ") < text.index(" example/small ")
    assert "there is no device 'abacus'" in text
    assert "line 6: Invalid JSON" in text


def test_a_file_that_holds_no_run_is_unreadable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b"id,job\n")
    assert main(["validate-time", str(path)]) == 2
    assert "holds no timed run" in capsys.readouterr().err
    assert main(["validate-time", str(tmp_path / "none.jsonl")]) == 2


def test_a_few_measured_steps_of_a_family_calibrate_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(timed()))
    [row] = answer(capsys, str(path))["rows"]
    slower = {"step_seconds": 1.3 * row["predicted_step_seconds"]}
    path.write_bytes(lines(*(timed(id=str(each), measured=slower) for each in range(6))))
    [family] = answer(capsys, str(path), "--calibrate", "2")["calibrated"]
    assert (family["rows"], family["steps"]) == (6, 2)
    assert family["mean_error"] < 0.05 < family["mean_error_before"]
    assert main(["validate-time", str(path), "--calibrate", "2"]) == 0
    assert "after 2 measured steps" in capsys.readouterr().out


def test_one_measured_step_calibrates_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(*(timed(id=str(each)) for each in range(6))))
    assert main(["validate-time", str(path), "--calibrate", "1"]) == 2
    assert "at least 2" in capsys.readouterr().err
