"""A search against the single path: its layouts, written as jobs and asked one by one, have the same bytes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from service.calculator.estimate import estimate
from service.calculator.layout import Layout
from service.calculator.step_time import step_time
from service.job.resolve import job_with_layout, resolve
from service.job.schema import Job
from service.planner.grid import parts
from service.usecases.searches import Question, Search, prepare, run
from service.usecases.spaces import Cluster, Limits
from tests.api.questions import DEVICE

EACH, GROUPS = 3, 20
"""Layouts that are looked at in each group, and groups."""

FLASH = {"kernels": {"attention": "flash"}, "dropout": {"hidden": 0.0, "attention": 0.0}}
TORCHTITAN = {"name": "fsdp2"}
TRANSFORMERS = {"name": "fsdp2", "transformer_impl": "hf"}
MEGATRON_DEEPSPEED = {"name": "deepspeed", "transformer_impl": "local"}
LORA = {"type": "lora", "rank": 16, "modules": ["q", "v"]}

JOBS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "Megatron, dense": ("llama-3-8b", {"name": "megatron-core"}, FLASH),
    "Megatron, experts": ("mixtral-8x7b", {"name": "megatron-core"}, FLASH),
    "Megatron, latent attention and experts": ("deepseek-v2-lite", {"name": "megatron-core"}, FLASH),
    "Megatron, 8 bits": (
        "llama-3-8b",
        {"name": "megatron-core"},
        FLASH | {"precision": {"fp8": {"recipe": "delayed"}}},
    ),
    "Megatron, adapters": ("llama-3-8b", {"name": "megatron-core"}, FLASH | {"adapters": LORA}),
    "Megatron, weights sharded": ("llama-3-8b", {"name": "megatron-core"}, FLASH | {"sharding": {"stage": 3}}),
    "Megatron, weights sharded by torch": (
        "llama-3-8b",
        {"name": "megatron-core"},
        FLASH | {"sharding": {"stage": 3, "implementation": "torch_fsdp2"}},
    ),
    "Megatron, scores stored": ("gpt-3-6.7b", {"name": "megatron-core"}, {"kernels": {"attention": "unfused"}}),
    "torchtitan, dense": ("llama-3-8b", TORCHTITAN, FLASH),
    "torchtitan, experts": ("qwen3-30b-a3b", TORCHTITAN, FLASH),
    "torchtitan, norms behind": ("olmo-2-7b", TORCHTITAN, FLASH),
    "torchtitan, adapters": ("llama-3-8b", TORCHTITAN, FLASH | {"adapters": LORA}),
    "FSDP of transformers": ("gemma-2-9b", TRANSFORMERS, {}),
    "FSDP1": ("llama-2-7b", {"name": "fsdp1"}, {}),
    "DDP": ("llama-3.2-1b", {"name": "ddp"}, {}),
    "the Trainer": ("llama-3.2-1b", {"name": "hf-trainer"}, {}),
    "DeepSpeed": ("llama-2-7b", {"name": "deepspeed"}, {}),
    "DeepSpeed, on disk": (
        "llama-2-7b",
        {"name": "deepspeed"},
        {"sharding": {"stage": 3}, "optimizer": {"offload": "nvme", "parameter_offload": "nvme"}},
    ),
    "DeepSpeed, 8 bits": ("llama-2-7b", {"name": "deepspeed"}, {"precision": {"fp8": {"recipe": "delayed"}}}),
    "DDP, 8 bits of torchao": ("llama-3.2-1b", {"name": "ddp"}, {"precision": {"fp8": {"backend": "torchao"}}}),
    "DeepSpeed, experts": ("mixtral-8x7b", {"name": "deepspeed"}, {}),
    "Megatron-DeepSpeed": ("llama-2-7b", MEGATRON_DEEPSPEED, FLASH),
}


AXES: Limits = Limits(
    {
        "cross_entropy": "any",
        "optimizer_offload": ["none", {"fraction": 0.5}],
        "schedule": "any",
        "microbatch_group_size": "any",
        "sharding_degree": "any",
        "stages": "any",
    }
)
"""What a search opens only when asked to."""


def prepared(name: str, limits: Limits) -> Search:
    preset, framework, more = JOBS[name]
    job = {
        "model": {"preset": preset},
        "framework": framework,
        "batch": {"global": 64, "sequence_length": 2048},
        **more,
    }
    return prepare(Question(Job.model_validate(job), Cluster(DEVICE, 16), limits), 10**9)


def sampled(asked: Search) -> Iterator[tuple[Job, Layout, int, float]]:
    """Layouts from all over the space as jobs, with the bytes and seconds that the search gives each among others."""
    chance = np.random.default_rng(0)
    found = [
        (number, group)
        for number, region in enumerate(asked.regions.regions)
        for part in parts(region.problem.model, region.space)
        for group in part.groups
    ]
    for number, group in (found[place] for place in chance.permutation(len(found))[:GROUPS]):
        problem = asked.regions.regions[number].problem
        indexes = np.sort(chance.permutation(len(group))[:EACH])
        many = group.layouts(indexes)
        peaks = np.broadcast_to(problem.peaks(many), indexes.shape)
        seconds = np.broadcast_to(np.asarray(problem.time(many).step_seconds, dtype=np.float64), indexes.shape)
        for place, index in enumerate(indexes.tolist()):
            layout = group.layout(index)
            job = job_with_layout(asked.regions.jobs[number], layout, group.split)
            yield job, layout, int(peaks[place]), float(seconds[place])


@pytest.mark.parametrize("limits", [Limits(), AXES], ids=["what a job leaves open", "every axis"])
@pytest.mark.parametrize("name", JOBS)
def test_a_layout_alone_has_the_bytes_and_the_time_that_it_has_among_others(name: str, limits: Limits) -> None:
    asked = prepared(name, limits)
    found = list(sampled(asked))
    assert len(found) > 2
    for job, layout, peak, seconds in found:
        again = resolve(job)
        assert again.layout == layout
        assert estimate(again.model, again.layout, again.recipe, asked.accelerator).peak.device_bytes == peak
        time = step_time(again.model, again.layout, again.recipe, asked.accelerator)
        assert float(time.step_seconds) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(("device", "kernel"), [("h100-sxm-80gb", "fused"), ("a100-sxm-80gb", "flash")])
def test_candidates_state_the_attention_kernel_that_is_left_open(device: str, kernel: str) -> None:
    asked = prepare(_question({"name": "megatron-core"}, {}, device), most_layouts=10_000_000)
    notices = [each for each in asked.resolved.findings.diagnostics if "/kernels/attention" in each.fields]
    assert {each.kernels.attention for each in asked.regions.jobs} == {kernel}
    assert [(each.code, each.found) for each in notices] == [("assumed", kernel)]


def test_candidates_leave_the_attention_kernel_open_where_the_job_does_so_itself() -> None:
    asked = prepare(_question({"name": "megatron-core"}, {"kernels": {"attention": "auto"}}), most_layouts=10_000_000)
    assert {each.kernels.attention for each in asked.regions.jobs} == {"auto"}


def _question(framework: dict[str, Any], changes: dict[str, Any], device: str = "h100-sxm-80gb") -> Question:
    model = {"preset": "llama-3.2-1b"}
    job = {"model": model, "framework": framework, "batch": {"global": 64, "sequence_length": 4096}, **changes}
    return Question(Job.model_validate(job), Cluster(device, 8))


@pytest.mark.parametrize(
    ("preset", "more", "fields"),
    [
        ("mixtral-8x7b", {}, ["/model/num_experts"]),
        ("llama-3-8b", {"precision": {"fp8": {"recipe": "delayed"}}}, ["/precision/fp8"]),
        ("gpt-3-760m", {}, ["/model/hidden_size"]),
        ("llama-3-8b", {"parallelism": {"context": 2}}, ["/parallelism/context"]),
        ("llama-3-8b", {}, []),
    ],
)
def test_what_no_timed_layouts_cover_is_said(preset: str, more: dict[str, Any], fields: list[str]) -> None:
    batch = {"micro": 1, "global": 64, "sequence_length": 2048}
    stated = {"model": {"preset": preset}, "framework": {"name": "megatron-core"}, "batch": batch, **more}
    stated["parallelism"] = {"context": 1, "virtual_pipeline": 1} | more.get("parallelism", {})
    found = run(prepare(Question(Job.model_validate(stated), Cluster(DEVICE, 16), Limits()), 10**9))
    unproven = [each for each in found.findings.diagnostics if each.code == "unproven_times"]
    assert [each.fields[0] for each in unproven] == fields
    assert all(each.severity == "info" for each in unproven)


def test_what_offload_frees_wins_no_tie() -> None:
    """13B under ZeRO on 16 GPUs fits without; with states on the host every layout has a larger margin."""
    job = {
        "model": {"preset": "llama-2-13b"},
        "framework": {"name": "deepspeed"},
        "batch": {"micro": 4, "global": 256, "sequence_length": 4096},
        "sharding": {"stage": 3},
        "checkpointing": {"granularity": "full"},
    }
    limits = Limits({"optimizer_offload": ["none", "cpu"]})
    found = run(prepare(Question(Job.model_validate(job), Cluster("a100-sxm-80gb", 16), limits), 10**9)).candidates
    assert [each.layout.optimizer_offload for each in found] == ["none", "cpu"]
    plain, moved = found
    assert moved.stage_bytes < plain.stage_bytes
    assert moved.step_seconds < plain.step_seconds * 1.05
