"""Jobs that are the same have the same digest, and only they (product.md, Answers)."""

from collections.abc import Mapping
from typing import Any

import pytest

from service.calculator.estimate import estimate
from service.calculator.step_time import step_time
from service.job.digest import digest, identity
from service.job.resolve import Resolved, resolve
from service.job.schema import Job
from tests.builders import H100

FRAMEWORKS = ("megatron-core", "deepspeed", "fsdp2", "fsdp1", "ddp", "hf-trainer")
NOTHING: Mapping[str, Mapping[str, Any]] = {
    "parallelism": {"async_tensor": False, "delay_weight_gradient": False, "overlap_expert": False},
    "sharding": {"overlap_grad_reduce": False, "overlap_param_gather": False, "buckets": None},
    "checkpointing": {"modules": [], "offload": "none", "distribute_saved": False},
    "optimizer": {"offload": "none", "parameter_offload": "none", "in_backward": False, "momentum": False},
    "kernels": {"softmax_fp32": False, "deterministic": False, "expandable_segments": False},
}


def resolved(name: str, **sections: Any) -> Resolved:
    document = {
        "model": {"preset": "llama-3-8b"},
        "framework": {"name": name},
        "world_size": 8,
        "batch": {"micro": 1, "accumulation": 2, "sequence_length": 2048},
        **sections,
    }
    return resolve(Job.model_validate(document))


def answer(found: Resolved) -> tuple[Any, ...]:
    asked = (found.model, found.layout, found.recipe, H100)
    return estimate(*asked), step_time(*asked)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_saying_that_something_is_not_used_changes_nothing(framework: str) -> None:
    plain, said = resolved(framework), resolved(framework, **NOTHING)
    assert digest(identity(plain.job)) == digest(identity(said.job))
    assert answer(plain) == answer(said)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_preset_is_its_dimensions(framework: str) -> None:
    plain = resolved(framework)
    dimensions = plain.job.model.model_dump(exclude_none=True, exclude={"preset"})
    spelt = resolved(framework, model=dimensions)
    assert digest(identity(plain.job)) == digest(identity(spelt.job))
    assert answer(plain) == answer(spelt)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize(
    "flag",
    [
        "/kernels/vocab_parallel_loss",
        "/kernels/logits_kept",
        "/kernels/compile",
        "/batch/padding_mask",
        "/sharding/bucket_view",
        "/sharding/no_sync",
        "/precision/autocast",
        "/kernels/grad_accumulation_fusion",
        "/kernels/deallocate_pipeline_outputs",
    ],
)
def test_one_digest_has_one_answer(framework: str, flag: str) -> None:
    section, name = flag.strip("/").split("/")
    batch = {"micro": 1, "accumulation": 2, "sequence_length": 2048}
    stated: Any = {section: {name: False} | (batch if section == "batch" else {})}
    plain, off = resolved(framework), resolved(framework, **stated)
    if digest(identity(plain.job)) == digest(identity(off.job)):
        assert answer(plain) == answer(off)
