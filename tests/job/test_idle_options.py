"""Every option changes the answer, or the findings say that it has no effect here."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from service.calculator.estimate import estimate
from service.calculator.step_time import step_time
from service.job.resolve import InvalidJob, Resolved, resolve
from service.job.schema import Job
from service.job.validate.idle import IDLE_UNLESS
from tests.builders import H100

DENSE: Mapping[str, Any] = {"preset": "llama-3-8b"}
EXPERTS: Mapping[str, Any] = {"preset": "qwen3-30b-a3b"}


def job(name: str, **sections: Any) -> dict[str, Any]:
    plain = {
        "model": DENSE,
        "framework": {"name": name},
        "world_size": 8,
        "batch": {"micro": 1, "accumulation": 8, "sequence_length": 2048},
    }
    return plain | sections


JOBS: Mapping[str, Mapping[str, Any]] = {
    "megatron": job("megatron-core", kernels={"attention": "flash"}, sharding={"stage": 1}),
    "megatron pipeline": job("megatron-core", parallelism={"tensor": 2, "pipeline": 4}, sharding={"stage": 1}),
    "megatron chunks": job("megatron-core", parallelism={"pipeline": 4, "virtual_pipeline": 2}),
    "megatron experts": job(
        "megatron-core", model=EXPERTS, parallelism={"pipeline": 4, "virtual_pipeline": 2, "expert": 2}
    ),
    "megatron scores": job("megatron-core", kernels={"attention": "unfused"}, dropout={"attention": 0.0}),
    "megatron selective": job(
        "megatron-core",
        kernels={"attention": "unfused"},
        checkpointing={"granularity": "selective", "modules": ["moe_act"]},
    ),
    "megatron full": job("megatron-core", checkpointing={"granularity": "full", "method": "uniform", "num_layers": 1}),
    "megatron context": job("megatron-core", parallelism={"tensor": 2, "context": 2}),
    "megatron capacity": job("megatron-core", model=EXPERTS, moe={"capacity_factor": 1.0, "pad_to_capacity": True}),
    "fsdp2": job("fsdp2"),
    "fsdp2 experts": job("fsdp2", model=EXPERTS),
    "fsdp2 pipeline": job("fsdp2", parallelism={"pipeline": 4}),
    "torchtitan selective": job(
        "fsdp2",
        framework={"name": "fsdp2", "transformer_impl": "titan"},
        checkpointing={"granularity": "selective"},
    ),
    "fsdp1": job("fsdp1"),
    "ddp": job("ddp"),
    "sgd": job("ddp", optimizer={"name": "sgd"}),
    "hf-trainer": job("hf-trainer"),
    "hf-trainer experts": job("hf-trainer", model=EXPERTS),
    "deepspeed 1": job("deepspeed", sharding={"stage": 1}),
    "deepspeed 3": job("deepspeed", sharding={"stage": 3}),
}
VALUES: Mapping[str, Sequence[Any]] = {
    "/schedule": ("1f1b", "gpipe", "zb_h1", "zb_h2"),
    "/parallelism/context_method": ("p2p", "all_gather", "a2a"),
    "/parallelism/microbatch_group_size": (8,),
    "/sharding/degree": (4,),
    "/sharding/reshard_after_forward": ("never",),
    "/sharding/optimizer_instances": (2,),
    "/sharding/buckets/reduce": (10**8,),
    "/sharding/buckets/all_gather": (10**8,),
    "/sharding/buckets/prefetch": (10**8,),
    "/sharding/buckets/max_live_parameters": (10**7,),
    "/sharding/buckets/persistence_threshold": (10**9,),
    "/checkpointing/method": ("uniform", "block"),
    "/checkpointing/num_layers": (1, 2),
    "/checkpointing/modules": (["core_attn"], ["mlp"], ["layernorm"]),
    "/checkpointing/op": (["attention"],),
    "/checkpointing/every": (3,),
    "/checkpointing/memory_budget": (0.5,),
    "/checkpointing/offload": ("inputs",),
    "/precision/reduce": ("bf16", "fp32"),
    "/kernels/cross_entropy_chunks": (4,),
    "/kernels/rope": ("eager",),
    "/kernels/grad_accumulation_fusion": (True, False),
    "/kernels/deallocate_pipeline_outputs": (True, False),
    "/kernels/moe_dispatcher": ("alltoall", "deepep"),
    "/kernels/experts": ("grouped_mm", "eager"),
    "/dropout/attention": (0.1,),
    "/moe": ({"imbalance": 2.0},),
    "/moe/capacity_factor": (1.5,),
}
"""What an option is set to; a flag, where none is listed."""


def stating(document: Mapping[str, Any], pointer: str, value: Any) -> Mapping[str, Any]:
    *sections, name = pointer.strip("/").split("/")
    stated: Any = {name: value}
    for section in reversed(sections):
        stated = {section: stated}
    return _merged(document, stated)


def _merged(left: Mapping[str, Any], right: Mapping[str, Any]) -> Mapping[str, Any]:
    both = {name: _merged(left[name], value) for name, value in right.items() if isinstance(left.get(name), Mapping)}
    return {**left, **{name: value for name, value in right.items() if value is not None}, **both}


def resolved(document: Mapping[str, Any]) -> Resolved | None:
    try:
        return resolve(Job.model_validate(document))
    except InvalidJob:
        return None


def answer(found: Resolved) -> tuple[Any, ...]:
    asked = (found.model, found.layout, found.recipe, H100)
    return estimate(*asked), step_time(*asked)


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("pointer", IDLE_UNLESS)
def test_what_is_said_to_have_no_effect_has_none(name: str, pointer: str) -> None:
    without = resolved(JOBS[name])
    assert without is not None
    for value in VALUES.get(pointer, (True,)):
        found = resolved(stating(JOBS[name], pointer, value))
        if found is not None and any(
            each.code == "ignored_option" and each.fields == (pointer,) for each in found.findings.diagnostics
        ):
            assert answer(found) == answer(without), value


@pytest.mark.parametrize("pointer", sorted(IDLE_UNLESS))
def test_what_has_no_effect_in_one_job_has_one_in_another_or_says_that_it_never_has(pointer: str) -> None:
    need, _ = IDLE_UNLESS[pointer]
    changed = False
    for document in JOBS.values():
        without = resolved(document)
        for value in VALUES.get(pointer, (True,)):
            found = resolved(stating(document, pointer, value))
            if found is None or without is None:
                continue
            noted = any(pointer in each.fields for each in found.findings.diagnostics)
            changed = changed or (not noted and answer(found) != answer(without))
    assert changed or need.startswith(("none", "it is read"))
