"""`memplan plan`: the ranked layouts of a cluster; nothing is stored."""

import json
from pathlib import Path
from typing import Any

import pytest

from service.api.schemas.examples import MEGATRON_SCRIPT, OPEN_JOB
from service.cli import main


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.sh"
    path.write_text(MEGATRON_SCRIPT["text"])
    return str(path)


def planned(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["plan", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def layouts(answer: dict[str, Any]) -> set[tuple[int, int]]:
    return {(each["layout"]["tensor"], each["layout"]["pipeline"]) for each in answer["candidates"]}


def test_it_looks_for_other_layouts_than_the_scripts_own(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = (script, "--device", "h100-sxm-80gb", "--gpus", "16")
    free = planned(capsys, *words)
    assert free["verdict"] == "fits"
    assert len(free["candidates"]) == 10
    assert (8, 2) not in layouts(free)
    kept = planned(capsys, *words, "--keep")
    assert layouts(kept) == {(8, 2)}
    assert kept["searched"] < free["searched"]


def test_it_prints_the_ranking_and_what_was_rejected(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = (script, "--device", "h100-sxm-80gb", "--gpus", "16", "--top", "3")
    answer = planned(capsys, *words)
    assert main(["plan", *words]) == 0
    captured = capsys.readouterr()
    for number, each in enumerate(answer["candidates"], start=1):
        row = next(line.split() for line in captured.out.splitlines() if line.split()[:1] == [str(number)])
        assert row[2] == str(each["layout"]["pipeline"])
        assert f"{each['time']['step_seconds']:.2f}" in row
    assert f"{answer['searched']:,} layouts" in captured.out
    for code in answer["rejected"]:
        assert code in captured.out
    # The progress bar is for a terminal, and there is none.
    assert captured.err == ""


def test_what_fits_nowhere_says_how_many_gpus_would_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "job.json"
    path.write_text(json.dumps({**OPEN_JOB, "model": {"preset": "llama-3-70b"}}))
    assert main(["plan", str(path), "--device", "h100-sxm-80gb", "--gpus", "8"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("no layout fits")
    assert "smallest number of GPUs that fits: " in out


def test_it_stores_nothing(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["plan", script, "--device", "h100-sxm-80gb", "--gpus", "16"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"train.sh"}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--device", "h100-sxm-80"), 2, "did you mean h100-sxm-80gb"),
        (("--device", "gaudi2"), 1, "no usable memory or no link bandwidths"),
        (("--device", "h100-sxm-80gb", "--set", "batch.sequence_length=0"), 1, "/batch/sequence_length should be"),
    ],
)
def test_a_question_without_an_answer_is_refused(
    script: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, said: str
) -> None:
    assert main(["plan", script, "--gpus", "16", *words]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err


def test_axes_are_limited_and_opened_by_name(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = (script, "--device", "h100-sxm-80gb", "--gpus", "16", "--search", "tensor=4", "--search", "pipeline=2,4")
    answer = planned(capsys, *words, "--search", "checkpointing=none")
    assert layouts(answer) <= {(4, 2), (4, 4)}
    assert {each["layout"]["checkpointing"] for each in answer["candidates"]} == {"none"}


def test_tensor_parallelism_leaves_the_node_when_allowed(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = (script, "--device", "h100-sxm-80gb", "--gpus", "16", "--gpus-per-node", "4", "--top", "100")
    narrow = ("--search", "micro=1", "--search", "context=1", "--search", "checkpointing=none")
    inside = planned(capsys, *words, *narrow)
    assert max(tensor for tensor, _ in layouts(inside)) == 4
    outside = planned(capsys, *words, *narrow, "--tensor-across-nodes")
    assert max(tensor for tensor, _ in layouts(outside)) > 4


@pytest.mark.parametrize(("limit", "said"), [("depth=3", "depth"), ("tensor", "AXIS"), ("tensor=wide", "tensor")])
def test_what_is_no_axis_or_no_value_is_named(
    script: str, capsys: pytest.CaptureFixture[str], limit: str, said: str
) -> None:
    assert main(["plan", script, "--device", "h100-sxm-80gb", "--gpus", "16", "--search", limit]) != 0
    assert said in capsys.readouterr().err


def test_a_script_that_does_not_fit_gets_changes_in_its_own_words(
    script: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    large = tmp_path / "large.sh"
    large.write_text(MEGATRON_SCRIPT["text"].replace("--micro-batch-size 1", "--micro-batch-size 16"))
    assert main(["plan", str(large), "--device", "a100-sxm-40gb", "--gpus", "16", "--keep"]) == 0
    out = capsys.readouterr().out
    assert "as it is: does_not_fit" in out
    assert "1  --micro-batch-size" in out
