"""`memplan verdict`: the verdict as an exit code, so that a submit script can act on it."""

import io
import json
import sys
from pathlib import Path

import pytest

from service.api.schemas.examples import JOB, MEGATRON_SCRIPT, OPEN_JOB
from service.cli import main, verdict

SBATCH = """#!/bin/bash
#SBATCH --job-name=llama
#SBATCH --nodes=8
#SBATCH --gpus-per-node=h100:8
#SBATCH --ntasks-per-node=1

srun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 pretrain_gpt.py \\
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.sh"
    path.write_text(MEGATRON_SCRIPT["text"])
    return str(path)


def job_file(folder: Path, **changes: object) -> str:
    path = folder / "job.json"
    path.write_text(json.dumps({**JOB, **changes}))
    return str(path)


def test_a_job_that_fits_is_exit_code_0(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verdict", script]) == 0
    assert capsys.readouterr().out.startswith("fits: stage 0 peaks at")


def test_a_job_that_does_not_fit_is_exit_code_1_and_what_would_do_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large = job_file(tmp_path, parallelism={"tensor": 1})
    assert main(["verdict", large, "--device", "rtx-4090"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("does_not_fit: stage 0 needs")
    assert "What would do" in out
    assert ": fits" in out


def test_a_tight_job_is_exit_code_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The estimate of a longer sequence passes 88 % of the GPU's memory and stays below what is usable."""
    codes = set()
    for length in range(8192, 40960, 1024):
        batch = {"micro": 1, "global": 512, "sequence_length": length}
        path = job_file(tmp_path, batch=batch, parallelism={"tensor": 2, "sequence": True, "pipeline": 4})
        codes.add(main(["verdict", path, "--json"]))
        answer = json.loads(capsys.readouterr().out)
        assert verdict.EXIT_CODES[answer["verdict"]] in codes
    assert codes == {0, 1, 4}


def test_what_cannot_be_found_out_is_exit_code_3(
    tmp_path: Path, script: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    incomplete = tmp_path / "open.json"
    incomplete.write_text(json.dumps(OPEN_JOB))
    assert main(["verdict", str(incomplete)]) == 3
    assert "world_size is missing" in capsys.readouterr().out
    assert main(["verdict", script, "--device", "h100-sxm-8"]) == 3
    assert "did you mean h100-sxm-80gb" in capsys.readouterr().out
    assert main(["verdict", job_file(tmp_path, world_size=60)]) == 3
    assert main(["verdict", script, "--set", "batch.micro=two"]) == 3
    assert main(["verdict", script, "--server", "http://127.0.0.1:1"]) == 3
    assert "http://127.0.0.1:1 cannot be asked" in capsys.readouterr().err
    assert main(["verdict", script, "--deadline", "0"]) == 3

    def broken(_options: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(verdict, "asked_by", broken)
    assert main(["verdict", script]) == 3
    assert "no verdict: ZeroDivisionError" in capsys.readouterr().err


def test_what_is_asked_wrongly_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verdict", str(tmp_path / "gone.sh")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(SystemExit) as exit_:
        main(["verdict", "x", "--gpus", "many"])
    assert exit_.value.code == 2


def test_a_whole_batch_script_is_read_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = MEGATRON_SCRIPT["text"].partition("pretrain_gpt.py")[2].partition("\\\n")[2]
    text = SBATCH + flags.replace("$TP", "8").replace("$PP", "2")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["verdict", "-", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["world_size"] == 64


def test_another_number_of_gpus_takes_the_place_of_the_jobs(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verdict", script, "--gpus", "16", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["world_size"] == 16
