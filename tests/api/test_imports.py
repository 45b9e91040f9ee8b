"""POST /v1/imports: what is understood of a config, and that nothing in it runs."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.api.schemas.examples import HUGGING_FACE_CONFIG
from tests.api.questions import script


def imported(api: TestClient, **source: Any) -> dict[str, Any]:
    response = api.post("/v1/imports", json={"source": source})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    assert {*("outcome", "format", "confidence", "job", "sources", "missing", "diagnostics", "unknown")} == found.keys()
    return found


def test_a_launch_script_is_a_job_with_the_source_of_every_value(api: TestClient) -> None:
    found = imported(api, text=script()["text"])
    assert (found["outcome"], found["format"], found["missing"]) == ("ok", "megatron", [])
    assert 0 < found["confidence"] <= 1
    assert found["job"]["parallelism"]["tensor"] == 8
    assert found["job"]["world_size"] == 64
    assert found["sources"]["/parallelism/tensor"]["from"] == "flag"
    assert "line" in found["sources"]["/parallelism/tensor"]["where"]


def test_a_model_config_is_incomplete_and_names_what_is_missing(api: TestClient) -> None:
    found = imported(api, text=HUGGING_FACE_CONFIG["text"])
    assert (found["outcome"], found["format"]) == ("incomplete", "huggingface")
    assert {each["fact"] for each in found["missing"]} == {"world_size", "sequence_length", "micro"}
    assert found["job"]["model"]["hidden_size"] == 4096


def test_what_is_given_beside_the_text_overrides_it(api: TestClient) -> None:
    found = imported(api, text=script()["text"], world_size=128, model={"vocab_size": 32000})
    assert found["job"]["world_size"] == 128
    assert found["job"]["model"]["vocab_size"] == 32000
    assert found["sources"]["/world_size"]["from"] == "given"


def test_a_config_that_breaks_rules_is_an_answer_with_all_of_them(api: TestClient) -> None:
    text = script()["text"].replace("TP=8", "TP=7").replace("PP=2", "PP=3")
    found = imported(api, text=text)
    assert found["outcome"] == "invalid"
    broken = {each["code"]: each for each in found["diagnostics"] if each["severity"] == "error"}
    assert {"world_size_not_divisible", "heads_tp", "layers_not_divisible"} <= broken.keys()
    assert all(each["fields"] and each["rule"] and each["fixes"] for each in broken.values())


def test_unknown_flags_are_reported_not_dropped(api: TestClient) -> None:
    found = imported(api, text=script()["text"].replace("--bf16", "--bf16 --my-own-flag 3"))
    assert found["unknown"] == ["my_own_flag"]
    assert "unknown_keys" in {each["code"] for each in found["diagnostics"]}


@pytest.mark.parametrize("form", ["$(touch {})", "`touch {}`", "; touch {}", "$(< {})", "<(touch {})", "| tee {}"])
def test_a_command_in_a_script_is_inert(api: TestClient, tmp_path: Path, form: str) -> None:
    witness = tmp_path / "witness"
    text = script()["text"].replace("TP=8", f"TP=8\nX={form.format(witness)}\neval touch {witness}\nsource {witness}")
    imported(api, text=text, env={"Y": f"$(touch {witness})"}, argv=[f"$(touch {witness})"])
    assert not witness.exists()


@pytest.mark.parametrize(
    ("stated", "decided", "section", "field"),
    [
        ("--micro-batch-size 1", "--micro-batch-size $(cat micro)", "batch", "micro"),
        ("TP=8", "TP=$(nvidia-smi -L | wc -l)", "parallelism", "tensor"),
    ],
)
def test_a_value_that_a_command_decides_is_missing(
    api: TestClient, stated: str, decided: str, section: str, field: str
) -> None:
    found = imported(api, text=script()["text"].replace(stated, decided))
    assert found["outcome"] == "incomplete"
    (missing,) = found["missing"]
    assert "no command is run" in missing["message"]
    assert field not in found["job"][section]


@pytest.mark.parametrize("name", ["/etc/passwd", "../model.sh", "a/../../b", "C:\\model.sh"])
def test_files_are_named_below_the_text(api: TestClient, name: str) -> None:
    response = api.post("/v1/imports", json={"source": {"text": "", "files": {name: "x"}}})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/source/files"
