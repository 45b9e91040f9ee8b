"""`memplan import` and `memplan export`: configs in, the job with its sources; jobs out, in a framework's own form."""

import json
from pathlib import Path

import pytest

from service.api.schemas.examples import HUGGING_FACE_CONFIG, JOB, MEGATRON_SCRIPT
from service.cli import main


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.sh"
    path.write_text(MEGATRON_SCRIPT["text"])
    return str(path)


@pytest.fixture
def job(tmp_path: Path) -> str:
    path = tmp_path / "job.json"
    path.write_text(json.dumps(JOB))
    return str(path)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_import_prints_every_value_with_the_place_it_came_from(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["import", script])
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.split()}

    assert "flag" in lines["parallelism.tensor"]
    assert "line " in lines["parallelism.tensor"]
    assert "default" in lines["optimizer.name"]


def test_import_of_a_config_that_lacks_something_says_what_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.json"
    path.write_text(HUGGING_FACE_CONFIG["text"])

    assert main(["import", str(path)]) == 1
    assert "missing sequence_length: " in capsys.readouterr().out


def test_import_as_json_is_the_answer_of_the_http_interface(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["import", script, "--json"])

    assert json.loads(capsys.readouterr().out)["format"] == "megatron"


def test_import_takes_the_files_that_a_config_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.sh").write_text("MODEL='--num-layers 7'\n")
    (tmp_path / "train.sh").write_text("source conf/model.sh\ntorchrun pretrain_gpt.py $MODEL --seq-length 64\n")

    main(["import", str(tmp_path / "train.sh"), "--with", str(tmp_path / "model.sh"), "--json"])

    assert json.loads(capsys.readouterr().out)["job"]["model"]["num_hidden_layers"] == 7


def test_a_job_of_ones_own_is_nothing_to_import(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", job]) == 2
    assert "already" in capsys.readouterr().err


def test_export_writes_a_job_in_a_framework_s_form(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    flags = printed(capsys, "export", job, "--format", "megatron")

    assert f"--tensor-model-parallel-size {JOB['parallelism']['tensor']}\n" in flags
    assert "--num-layers 32\n" in flags


def test_export_says_what_the_form_has_no_words_for(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", job, "--format", "deepspeed"]) == 0

    assert "parallelism.tensor" in capsys.readouterr().err


def test_export_of_a_change_prints_only_what_is_to_be_pasted(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("export", script, "--set", "parallelism.tensor=1", "--set", "sharding.stage=0", "--changes", "--format")

    assert printed(capsys, *words, "megatron").splitlines() == [
        "--tensor-model-parallel-size 1",
        "remove --use-distributed-optimizer",
    ]
    assert '{"op": "replace", "path": "/zero_optimization/stage", "value": 0}' in printed(capsys, *words, "deepspeed")
