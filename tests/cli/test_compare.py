"""`memplan compare` and `memplan devices`: what is shown side by side."""

import json
from pathlib import Path

import pytest

from service.api.schemas.examples import MEGATRON_SCRIPT, OPEN_JOB
from service.catalog.devices import built_in
from service.cli import main

DEVICES = ("--device", "h100-sxm-80gb", "--device", "a100-sxm-40gb")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Two scripts that differ in the tensor degree, and a job that is incomplete."""
    text = MEGATRON_SCRIPT["text"]
    contents = {"eight.sh": text, "four.sh": text.replace("TP=8", "TP=4"), "open.json": json.dumps(OPEN_JOB)}
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return [str(tmp_path / name) for name in contents]


def test_every_job_has_a_row_on_every_device(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *files[:2], *DEVICES]) == 0
    out = capsys.readouterr().out
    rows = [line.split()[:3] for line in out.splitlines() if "-sxm-" in line and " on " not in line]
    assert rows == [
        ["eight.sh", "h100-sxm-80gb", "fits"],
        ["eight.sh", "a100-sxm-40gb", "fits"],
        ["four.sh", "h100-sxm-80gb", "fits"],
        ["four.sh", "a100-sxm-40gb", "fits"],
    ]
    assert "parallelism.tensor" in out
    assert "shortest step: four.sh on h100-sxm-80gb" in out


def test_a_job_that_cannot_be_read_is_unknown_and_the_others_are_compared(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", files[0], files[2], "--device", "h100-sxm-80gb"]) == 0
    out = capsys.readouterr().out
    assert "open.json: not stated: " in out
    assert "most memory left: eight.sh" in out


def test_the_json_is_that_of_the_interface(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *files[:2], *DEVICES, "--gpus", "128", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["sides"] == ["eight.sh", "four.sh"]
    assert [[cell["world_size"] for cell in row] for row in answer["matrix"]] == [[128, 128], [128, 128]]


def test_a_stored_plan_needs_its_service(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", files[0], "pln_0", *DEVICES]) == 2
    assert "--server" in capsys.readouterr().err
    assert main(["compare", files[0], "--device", "h100-sxm-8"]) == 2
    assert "did you mean h100-sxm-80gb" in capsys.readouterr().err


def test_every_device_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    out = capsys.readouterr().out
    assert main(["devices", "--json"]) == 0
    listed = {each["id"] for each in json.loads(capsys.readouterr().out)["items"]}
    assert listed == {each.id for each in built_in()}
    assert all(f"\n{each} " in out for each in listed)
