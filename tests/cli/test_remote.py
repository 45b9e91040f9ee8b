"""--server: the same commands, answered by a service."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.api.schemas.examples import JOB, MEGATRON_SCRIPT, OPEN_JOB
from service.cli import main, remote
from tests.api.serving import served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    with served(f"sqlite:///{folder}/memplan.db", folder) as address:
        yield address


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.sh"
    path.write_text(MEGATRON_SCRIPT["text"])
    return str(path)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(printed(capsys, *words, "--json"))


@pytest.mark.parametrize(
    "words",
    [
        ("estimate", "FILE"),
        ("estimate", "FILE", "--set", "batch.micro=2", "--device", "h200-sxm-141gb", "--env", "NNODES=2"),
        ("verdict", "FILE", "--gpus", "32"),
        ("import", "FILE", "--env", "TP=4"),
        ("compare", "FILE", "--device", "h100-sxm-80gb", "--device", "a100-sxm-80gb"),
        ("devices",),
    ],
    ids=" ".join,
)
def test_a_service_answers_what_is_answered_here(
    server: str, script: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    words = tuple(script if each == "FILE" else each for each in words)
    here, there = as_json(capsys, *words), as_json(capsys, *words, "--server", server)
    if "--set" in words:
        # The job is sent with the change in it, so the service sees one that was given whole.
        for answer in (here, there):
            del answer["sources"], answer["diagnostics"]
    else:
        assert printed(capsys, *words) == printed(capsys, *words, "--server", server)
    assert here == there


def test_a_plan_is_searched_stored_and_exported_there(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "open.json"
    path.write_text(json.dumps(OPEN_JOB))
    words = ("plan", str(path), "--device", "h100-sxm-80gb", "--gpus", "8", "--top", "2")
    here, there = as_json(capsys, *words), as_json(capsys, *words, "--server", server)
    for each in (here, there):
        del each["elapsed_seconds"]
    assert here == there
    listed = remote.Remote(server).text("/v1/plans")[0]
    (stored,) = json.loads(listed)["items"]
    text = printed(capsys, "export", stored["id"], "--format", "megatron", "--server", server, "--candidate", "1")
    assert "--tensor-model-parallel-size" in text
    out = printed(capsys, "compare", stored["id"], "--device", "h200-sxm-141gb", "--server", server)
    assert stored["id"] in out


def test_a_problem_is_a_line_for_each_thing_that_is_wrong(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "job.json"

    def refused(code: int, job: dict[str, Any], *words: str) -> str:
        path.write_text(json.dumps(job))
        assert main(["estimate", str(path), "--server", server, *words]) == code
        return capsys.readouterr().err

    assert "did you mean h100-sxm-80gb" in refused(2, JOB, "--device", "h100-sxm-8")
    broken = refused(1, {**JOB, "world_size": 60})
    assert "world size 60 is not a multiple" in broken
    assert broken.count("\n") == 1
    assert "world_size is missing" in refused(1, OPEN_JOB)
    assert main(["export", "pln_0", "--format", "megatron", "--server", server]) == 1
    assert "There is no such plan" in capsys.readouterr().err


def test_what_does_not_answer_as_memplan_is_said_so(
    server: str, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for address, said in (
        ("http://127.0.0.1:1", "cannot be asked"),
        ("nonsense", "cannot be asked"),
        (f"{server}/docs", "404"),
    ):
        assert main(["estimate", script, "--server", address]) == 1
        err = capsys.readouterr().err
        assert err.startswith(f"memplan: {address}") or "There is no such page" in err
        assert said in err or "no such page" in err
        assert err.count("\n") == 1


def test_the_token_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert remote.Remote("http://memplan.test")._headers == {}
    monkeypatch.setenv("MEMPLAN_TOKEN", "mp_secret")
    assert remote.Remote("http://memplan.test")._headers == {"Authorization": "Bearer mp_secret"}
