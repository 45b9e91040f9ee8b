"""`memplan observe`: what a run measured, sent to a service."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from service.api.schemas.examples import MEGATRON_SCRIPT
from service.cli import main
from tests.api.questions import plan
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


def test_a_measured_peak_is_shown_beside_its_prediction(
    server: str, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("observe", script, "--device", "h100-sxm-80gb", "--server", server, "--source", "torch")
    assert main([*words, "--run-id", "one", "--reserved-bytes", str(10 << 30), "--step-seconds", "9.5"]) == 0
    out = capsys.readouterr().out
    assert "one, megatron-core (transformer_engine) on h100-sxm-80gb" in out
    assert "reserved: 10.00 GiB measured, " in out
    assert "step: 9.50 s measured, " in out
    assert main([*words, "--run-id", "one", "--reserved-bytes", str(11 << 30)]) == 1
    assert "has another observation" in capsys.readouterr().err


def test_a_run_of_a_plan_that_ran_out_of_memory(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = httpx2.post(f"{server}/v1/plans", json=plan(), timeout=60).json()["id"]
    assert main(["observe", made, "--run-id", "two", "--oom", "--server", server, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["plan"], found["measured"]["oom"], found["measured"]["source"]) == (made, True, "scheduler")


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--device", "h100-sxm-80gb", "--oom"), "--server"), (("--server", "http://127.0.0.1:1", "--oom"), "--device")],
)
def test_what_is_needed_is_asked_for(
    script: str, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["observe", script, "--run-id", "three", *words]) == 2
    assert said in capsys.readouterr().err
