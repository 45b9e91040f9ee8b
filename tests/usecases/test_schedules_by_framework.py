"""Every schedule under every framework that has a pipeline, also where its stages are uneven."""

from typing import Any

import pytest

from service.calculator.estimate import Estimate, estimate
from service.calculator.schedules.schedule import CHUNKS
from service.job.resolve import resolve
from service.job.schema import Job
from tests.builders import H100

PIPELINE = 4


def estimated(framework: str, schedule: str, **changes: Any) -> Estimate:
    document = {
        "model": {"preset": "llama-3-8b"},
        "framework": {"name": framework},
        "world_size": 4,
        "parallelism": {"pipeline": PIPELINE, "virtual_pipeline": CHUNKS[schedule] or 2},
        "schedule": schedule,
        "batch": {"micro": 1, "accumulation": 8, "sequence_length": 2048},
        **changes,
    }
    resolved = resolve(Job.model_validate(document))
    return estimate(resolved.model, resolved.layout, resolved.recipe, H100)


@pytest.mark.parametrize("schedule", sorted(CHUNKS))
@pytest.mark.parametrize("framework", ["megatron-core", "fsdp2"])
def test_no_tensor_is_held_less_than_never(framework: str, schedule: str) -> None:
    """Where most is held with no micro-batch in the head's chunk, as of torchtitan's thinner last chunks."""
    for stage in estimated(framework, schedule).stages:
        assert [line.tensor.name for line in stage.lines if line.count < 0 or line.bytes < 0] == []


@pytest.mark.parametrize("framework", ["megatron-core", "fsdp2"])
def test_the_loss_has_a_micro_batch_of_its_own_on_a_thin_last_chunk(framework: str) -> None:
    counts = [4, 4, 4, 4, 4, 4, 7, 1]
    last = estimated(framework, "interleaved", stages={"layers": counts}).stages[-1]
    assert sum(int(line.count) for line in last.lines if line.tensor.name == "head.input") >= 1
