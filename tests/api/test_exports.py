"""A plan's layouts in a framework's own form."""

import json
import tomllib
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient

from service.cli.parser import EXPORT_FORMATS as FORMS
from tests.api.questions import open_job, plan


@pytest.fixture(scope="module")
def planned(api: TestClient) -> dict[str, Any]:
    answer: dict[str, Any] = api.post("/v1/plans", json=plan()).json()
    return answer


def export(api: TestClient, planned: dict[str, Any], form: str, **query: Any) -> Any:
    return api.get(f"/v1/plans/{planned['id']}/exports/{form}", params=query)


@pytest.mark.parametrize("form", ["megatron", "slurm"])
def test_the_flags_say_the_layout_of_the_candidate(api: TestClient, planned: dict[str, Any], form: str) -> None:
    for rank, candidate in enumerate(planned["candidates"][:3]):
        text = export(api, planned, form, candidate=rank).text

        parallelism = candidate["job"]["parallelism"]
        assert f"--tensor-model-parallel-size {parallelism['tensor']}" in text
        assert f"--pipeline-model-parallel-size {parallelism['pipeline']}" in text


def test_a_batch_script_asks_for_the_cluster_s_nodes(api: TestClient, planned: dict[str, Any]) -> None:
    text = export(api, planned, "slurm").text

    assert text.startswith("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=")
    assert "torchrun --nnodes 2 --nproc_per_node 8" in text


def test_what_is_exported_can_be_imported_and_is_the_same_job(api: TestClient, planned: dict[str, Any]) -> None:
    text = export(api, planned, "slurm").text

    imported = api.post("/v1/imports", json={"source": {"text": text}}).json()

    assert (imported["outcome"], imported["format"]) == ("ok", "megatron")
    first = planned["candidates"][0]["job"]
    for section in ("parallelism", "batch", "precision", "checkpointing"):
        read, said = imported["job"][section], first[section]
        assert {key: value for key, value in read.items() if value is not None} == {
            key: said[key] for key, value in read.items() if value is not None
        }


@pytest.mark.parametrize(
    ("form", "media_type", "read", "path"),
    [
        ("nemo", "application/yaml", yaml.safe_load, ("trainer", "num_nodes")),
        ("deepspeed", "application/json", json.loads, ("zero_optimization", "stage")),
        ("accelerate", "application/yaml", yaml.safe_load, ("num_processes",)),
        ("torchtitan", "application/toml", tomllib.loads, ("training", "seq_len")),
    ],
)
def test_config_files_are_files_of_their_kind(
    api: TestClient, planned: dict[str, Any], form: str, media_type: str, read: Any, path: tuple[str, ...]
) -> None:
    answer = export(api, planned, form)
    document = read(answer.text)

    assert answer.headers["Content-Type"] == media_type
    for key in path:
        document = document[key]
    assert isinstance(document, int)


def test_what_a_form_has_no_words_for_is_named(api: TestClient, planned: dict[str, Any]) -> None:
    unsaid = export(api, planned, "deepspeed").headers["Memplan-Unsaid"].split(", ")

    assert "/parallelism/tensor" in unsaid
    assert "/batch/micro" not in unsaid


@pytest.mark.parametrize(
    ("path", "query", "status", "code"),
    [
        ("megatron", {"candidate": 1000}, 404, "candidate_not_found"),
        ("megatron", {"candidate": -1}, 422, "invalid_request"),
        ("fortran", {}, 422, "invalid_request"),
    ],
)
def test_what_cannot_be_exported_is_a_problem(
    api: TestClient, planned: dict[str, Any], path: str, query: dict[str, int], status: int, code: str
) -> None:
    answer = export(api, planned, path, **query)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_there_is_no_export_of_a_plan_that_is_not_stored(api: TestClient) -> None:
    assert api.get("/v1/plans/pln_x/exports/megatron").json()["code"] == "plan_not_found"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("framework", ["megatron-core", "deepspeed"])
def test_an_optimizer_that_is_offloaded_in_part_is_written_or_named_as_unsaid(
    api: TestClient, framework: str, form: str
) -> None:
    part = {"name": "adam", "offload": {"fraction": 0.5}}
    question = plan(job=open_job(framework={"name": framework}, optimizer=part), search={"checkpointing": "any"})
    made = api.post("/v1/plans", json=question)
    assert made.status_code in {200, 201}, made.text
    assert made.json()["candidates"]
    answer = export(api, made.json(), form)
    assert answer.status_code == 200
    assert "0.5" in answer.text or "/optimizer/offload" in answer.headers.get("memplan-unsaid", "")
