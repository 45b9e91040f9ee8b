"""`memplan estimate`: the same answer as the service's, as tables in GiB or as its JSON."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from service.api.schemas.estimate import EstimateAnswer
from service.api.schemas.examples import HUGGING_FACE_CONFIG, JOB, MEGATRON_SCRIPT
from service.calculator.units import GIB
from service.cli import main
from service.job.schema import Job
from service.usecases.estimates import estimate_job


@pytest.fixture
def script(tmp_path: Path) -> str:
    return written(tmp_path / "train.sh", MEGATRON_SCRIPT["text"])


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["estimate", *words]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> str:
    assert main(["estimate", *words]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("memplan: ")
    return captured.err


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed(capsys, "--json", *words))
    return found


def test_it_prints_a_row_for_each_stage_and_the_largest_lines(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, script, "--lines", "3")
    found = estimate_job(Job.model_validate(JOB), "h100-sxm-80gb")
    assert out.startswith(f"{found.verdict}: {found.reason}")
    for stage in found.estimate.stages:
        row = next(line for line in out.splitlines() if line.split()[:2] == [str(stage.stage), str(len(stage.layers))])
        assert f"{stage.device_bytes / GIB:.2f}" in row.split()
        assert stage.moment.value in row
    largest = sorted(found.estimate.worst_stage.ledger, key=lambda line: -int(line.bytes))
    for line in largest[:3]:
        assert line.tensor.name in out
    assert largest[4].tensor.name not in out


def test_a_job_of_our_own_is_read_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = as_json(capsys, written(tmp_path / "job.json", json.dumps(JOB)), "--device", "a100-sxm-80gb")
    expected = EstimateAnswer.of(estimate_job(Job.model_validate(JOB), "a100-sxm-80gb"))
    assert answer == json.loads(expected.model_dump_json(by_alias=True))


def test_a_script_is_read_from_standard_input(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MEGATRON_SCRIPT["text"].encode())))
    assert as_json(capsys, "-") == as_json(capsys, script)


def test_the_environment_and_arguments_of_a_script_are_given_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MEGATRON_SCRIPT["text"].replace("--micro-batch-size 1", "--micro-batch-size $1")
    path = written(tmp_path / "train.sh", text)
    answer = as_json(capsys, path, "--env", "NNODES=2", "--device", "h100-sxm-80gb", "--", "2")
    assert answer["job"]["world_size"] == 16
    assert answer["job"]["batch"]["micro"] == 2


def test_a_model_config_is_completed_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "config.json", HUGGING_FACE_CONFIG["text"])
    lacking = refused(capsys, 1, path)
    for fact in ("world_size", "micro", "sequence_length"):
        assert f"{fact} is missing" in lacking
    given = ("--world-size", "8", "--set", "batch.micro=1", "--set", "batch.sequence_length=4096")
    answer = as_json(capsys, path, *given, "--set", "parallelism.tensor=8")
    assert answer["job"]["batch"]["sequence_length"] == 4096
    assert answer["job"]["parallelism"]["data"] == 1
    assert answer["sources"]["/batch/micro"] == "given"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("batch.micro=two", "/batch/micro should be a valid integer"),
        ("batch.mikro=2", "did you mean `micro`?"),
        ("batch.micro", "KEY=VALUE"),
    ],
)
def test_a_value_that_is_none_of_a_job_is_refused(
    script: str, capsys: pytest.CaptureFixture[str], change: str, said: str
) -> None:
    assert main(["estimate", script, "--set", change]) in {1, 2}
    assert said in capsys.readouterr().err


def test_all_problems_of_a_job_are_printed_a_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = {**JOB, "tensr": 8, "world_size": "many"}
    lines = refused(capsys, 2, written(tmp_path / "job.json", json.dumps(job))).splitlines()
    assert lines[0].endswith("2 problems")
    assert "/world_size: should be a valid integer" in lines[1]
    assert "did you mean `parallelism.tensor`?" in lines[2]


def test_a_broken_rule_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = {**JOB, "world_size": 60}
    line = refused(capsys, 1, written(tmp_path / "job.json", json.dumps(job)))
    assert line.count("\n") == 1
    assert "world size 60 is not a multiple" in line
    assert "try world_size: " in line


def test_what_is_asked_for_wrongly_has_exit_code_2(
    tmp_path: Path, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "No such file" in refused(capsys, 2, str(tmp_path / "nothing.sh"))
    assert "did you mean h100-sxm-80gb" in refused(capsys, 2, script, "--device", "h100-sxm-80")
    assert "/format" in refused(capsys, 2, script, "--format", "yaml")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refused(capsys, 2, str(tmp_path / "binary"))
    with pytest.raises(SystemExit) as exit_:
        main(["estimate"])
    assert exit_.value.code == 2


def test_a_job_that_does_not_fit_is_an_answer(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(
        capsys, script, "--device", "t4", "--set", "parallelism.tensor=1", "--set", "parallelism.sequence=false"
    )
    assert out.startswith("does_not_fit: ")
