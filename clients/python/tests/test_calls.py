"""Every call of the client, against a service."""

import json
from pathlib import Path

import httpx
import pytest

from client_jobs import DEVICE, FEW, JOB, SOME, open_job
from memplan_client import Client, Source, Target, errors, models


def test_an_estimate_itemises_every_stage_to_the_byte(client: Client) -> None:
    answer = client.estimate(JOB, device=DEVICE)
    assert answer.verdict == "fits"
    assert len(answer.stages) == 2
    for stage in answer.stages:
        assert sum(line.bytes_ for line in stage.ledger) == stage.device_bytes


def test_a_job_is_given_as_a_mapping_a_file_a_script_or_the_class_of_an_answer(
    client: Client, script: Path, job_file: Path
) -> None:
    expected = client.estimate(JOB, DEVICE).peak
    answer = client.estimate(script, DEVICE)
    assert answer.peak.device_bytes == expected.device_bytes
    for given in (str(script), job_file, {"job": JOB}, answer.job, Source.read(script)):
        assert client.estimate(given, DEVICE).peak.device_bytes == expected.device_bytes


def test_a_script_is_read_with_what_it_runs_with(client: Client, script: Path) -> None:
    source = Source.read(script, env={"NNODES": "2"})
    assert client.estimate(source, DEVICE).job.world_size == 16
    imported = client.import_config(script, env={"NNODES": "2"})
    assert imported.outcome == "ok"
    assert imported.format_ == "megatron"
    assert isinstance(imported.job, models.Job)
    assert imported.job.world_size == 16


def test_a_text_is_not_taken_for_a_path(client: Client) -> None:
    with pytest.raises(ValueError, match="Source"):
        client.import_config("torchrun\npretrain_gpt.py")
    assert client.import_config(Source(text="torchrun pretrain_gpt.py --num-layers 2")).outcome == "incomplete"


def test_a_misspelt_key_is_refused_and_not_dropped(client: Client) -> None:
    with pytest.raises(errors.InvalidRequest) as refusal:
        client.estimate({**JOB, "tensr": 8}, DEVICE)
    (fault,) = refusal.value.errors
    assert fault.pointer == "/job/tensr"
    assert refusal.value.status == 422
    assert refusal.value.request_id


def test_what_is_missing_or_wrong_is_an_error_of_its_own_class(client: Client) -> None:
    with pytest.raises(errors.IncompleteJob) as incomplete:
        client.estimate(open_job(8192), DEVICE)
    assert "world_size" in {each.fact for each in incomplete.value.missing}
    with pytest.raises(errors.InvalidJob, match="world size 60"):
        client.estimate({**JOB, "world_size": 60}, DEVICE)
    with pytest.raises(errors.UnknownDevice):
        client.estimate(JOB, "h100-sxm-80")
    with pytest.raises(errors.PlanNotFound):
        client.get_plan("pln_0")
    with pytest.raises(errors.ComparisonNotFound):
        client.get_comparison("cmp_0")
    with pytest.raises(errors.OperationNotFound):
        client.operation("op_0")


def test_a_verdict_is_one_sentence_and_what_would_do(client: Client) -> None:
    assert client.verdict(JOB, DEVICE).verdict == "fits"
    small = client.verdict(JOB, "a100-sxm-40gb", world_size=16)
    assert small.world_size == 16
    none = client.verdict({**JOB, "parallelism": {"tensor": 1, "pipeline": 1}}, "rtx-4090", deadline=5)
    assert none.verdict == "does_not_fit"
    assert none.alternatives


def test_the_policy_of_a_queue_is_applied(client: Client, address: str) -> None:
    policy = {"mode": "enforce", "allowed_devices": ["h200-sxm-141gb"]}
    httpx.put(f"{address}/v1/policies/research", json=policy).raise_for_status()
    assert client.verdict(JOB, DEVICE).policy is None
    ruled = client.verdict(JOB, DEVICE, queue="research")
    assert ruled.verdict == "fits"
    assert isinstance(ruled.policy, models.RulingAnswer)
    assert ruled.policy.ruling == "refuse"


def test_many_verdicts_come_in_the_order_of_the_question(client: Client, script: Path) -> None:
    found = client.verdicts([JOB, script], [DEVICE, Target("h200-sxm-141gb", 128)])
    assert [(each.item, each.target) for each in found] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [each.world_size for each in found] == [64, 128, 64, 128]


def test_a_plan_ranks_layouts_and_can_be_read_exported_and_removed(client: Client) -> None:
    plan = client.plan(open_job(4096), DEVICE, 16, search=FEW, top=3, labels={"team": "client"})
    assert plan.verdict == "fits"
    assert len(plan.candidates) == 3
    assert client.get_plan(plan.id) == plan
    assert "--tensor-model-parallel-size" in client.export(plan.id, "megatron")
    assert json.loads(client.export(plan.id, "deepspeed", candidate=1))
    client.delete_plan(plan.id)
    with pytest.raises(errors.PlanNotFound):
        client.get_plan(plan.id)


def test_a_long_search_says_how_far_it_is(client: Client) -> None:
    seen: list[models.OperationProgress] = []
    plan = client.plan(open_job(4100), DEVICE, 64, search=SOME, top=1, progress=seen.append)
    assert plan.candidates
    assert seen[-1].done == seen[-1].total == plan.searched
    assert [each.done for each in seen] == sorted(each.done for each in seen)


def test_who_does_not_wait_can_follow_or_cancel_the_search(client: Client) -> None:
    with pytest.raises(errors.OperationUnfinished) as unfinished:
        client.plan(open_job(4104), DEVICE, 64, search=SOME, progress=lambda _: None, patience=0)
    operation = client.operation(unfinished.value.operation.id)
    assert client.wait(operation).world_size == 64
    with pytest.raises(errors.OperationFinished):
        client.cancel(operation.id)


def test_plans_are_listed_over_all_pages(client: Client) -> None:
    labels = {"page": "all"}
    made = [client.plan(open_job(1024 * n), DEVICE, 8, search=FEW, labels=labels).id for n in (1, 2, 3)]
    found = client.plans(labels=labels, page_size=2)
    assert [each.id for each in found] == made[::-1]
    assert list(client.plans(device="mi300x")) == []


def test_a_comparison_puts_jobs_and_plans_side_by_side(client: Client) -> None:
    wide = {**JOB, "parallelism": {"tensor": 4, "sequence": True, "pipeline": 2}}
    found = client.compare({"8-way": JOB, "4-way": wide}, targets=[DEVICE, "h200-sxm-141gb"])
    assert found.sides == ["8-way", "4-way"]
    assert [len(row) for row in found.matrix] == [2, 2]
    assert "/parallelism/tensor" in {each.pointer for each in found.differences}
    assert client.get_comparison(found.id) == found
    plan = client.plan(open_job(2048), DEVICE, 8, search=FEW)
    assert client.compare(plans=[plan.id]).sides == [plan.id]


def test_the_catalogue_is_listed(client: Client) -> None:
    assert DEVICE in {each.id for each in client.devices()}
    assert "llama-3-8b" in {each.name for each in client.models()}
