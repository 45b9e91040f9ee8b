"""Gradients and weights sharded unit by unit under Megatron: its own FSDP, and torch's.

Sources: Megatron-LM @ d98e8a64 core/distributed/fsdp/src/megatron_fsdp (param_and_grad_buffer.py, megatron_fsdp.py) and
core/distributed/torch_fully_sharded_data_parallel.py. Three runs of its CI are in tests/data/jobs_megatron_ci.jsonl.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from service.calculator.estimate import StageEstimate, estimate
from service.calculator.ledger import Moment, Scope
from service.job.resolve import InvalidJob, Resolved, resolve
from service.job.schema import Job
from service.usecases.devices import accelerator_of, device_of
from tests.builders import H100

RANKS = 8
LAYER = 218_112_000
ENDS = 128_256 * 4096
WHOLE = 8_030_261_248


def sharded(stage: int = 3, **changes: Any) -> Resolved:
    """Llama 3 8B on eight GPUs, one sequence of 4096 tokens."""
    document: dict[str, Any] = {
        "model": {"preset": "llama-3-8b"},
        "framework": {"name": "megatron-core"},
        "world_size": RANKS,
        "batch": {"micro": 1, "global": 32, "sequence_length": 4096, "padding_mask": False},
        "sharding": {"stage": stage},
        "kernels": {"attention": "fused"},
        "dropout": {"hidden": 0.0, "attention": 0.0},
    }
    for section, values in changes.items():
        document[section] = {**document.get(section, {}), **values} if isinstance(values, dict) else values
    return resolve(Job.model_validate(document))


def stage_of(job: Resolved) -> StageEstimate:
    (stage,) = estimate(job.model, job.layout, job.recipe, H100).stages
    return stage


def named(job: Resolved, name: str, moment: Moment | None = None) -> int:
    return sum(
        int(line.bytes)
        for line in stage_of(job).lines
        if line.tensor.name == name and (moment is None or moment in line.alive)
    )


def test_weights_gradients_and_states_are_shards() -> None:
    """Gradients have the weights' type unless told otherwise (--megatron-fsdp-main-grads-dtype auto)."""
    job = sharded()
    shard = WHOLE // RANKS
    assert named(job, "gradients.shard") == 2 * shard
    assert named(job, "optimizer.master") == named(job, "optimizer.first_moment") == 4 * shard
    assert named(job, "gradients.in_fp32", Moment.OPTIMIZER_STEP) == 4 * shard
    assert named(job, "gradients.in_fp32", Moment.LAYER_BACKWARD) == 0


def test_gradients_in_fp32_need_no_cast() -> None:
    job = sharded(precision={"gradients": "fp32"})
    assert named(job, "gradients.shard") == 4 * WHOLE // RANKS
    assert named(job, "gradients.in_fp32") == 0


def test_ends_stay_gathered_and_layers_run_ahead_by_half_a_milliard_elements() -> None:
    """Layers of 218 million elements: the one that runs and three ahead."""
    job = sharded()
    assert named(job, "gathered.ends") == 2 * (2 * ENDS + 4096)
    assert named(job, "gathered.layers", Moment.WARMUP_FORWARD) == 2 * 4 * LAYER
    assert named(job, "gathered.layers", Moment.LOSS) == 0


def test_the_bound_on_what_travels_can_be_stated() -> None:
    small = sharded(sharding={"buckets": {"reduce": 2, "prefetch": 1}})
    assert named(small, "gathered.layers", Moment.WARMUP_FORWARD) == 2 * 2 * LAYER
    assert named(small, "unreduced.layers", Moment.LAST_BACKWARD) == 2 * (LAYER + 2)


def test_gradients_wait_whole_up_to_a_milliard_elements() -> None:
    job = sharded()
    assert named(job, "unreduced.layers", Moment.LAST_BACKWARD) == 2 * (1_000_000_000 + LAYER)
    assert named(job, "unreduced.layer", Moment.LAYER_BACKWARD) == 2 * LAYER


def test_double_buffers_are_two_units_of_each_for_good() -> None:
    job = sharded(sharding={"double_buffer": True})
    for name in ("gathered.double_buffer", "unreduced.double_buffer"):
        assert named(job, name) == named(job, name, Moment.OPTIMIZER_STEP) == 2 * 2 * LAYER
    assert named(job, "gathered.layers") == named(job, "unreduced.layers") == 0


def test_stage_2_keeps_whole_weights_and_gathers_nothing() -> None:
    second = sharded(2)
    assert named(second, "head.weight") == 2 * ENDS
    assert named(second, "gathered.ends") == named(second, "gathered.layers") == 0
    assert named(second, "gradients.shard") == 2 * WHOLE // RANKS


def test_the_model_is_built_whole_before_it_is_sharded() -> None:
    assert named(sharded(), "weights.whole", Moment.INITIALIZATION) == 2 * WHOLE


def test_torchs_units_keep_fp32_copies_of_16_bit_shards() -> None:
    job = sharded(sharding={"implementation": "torch_fsdp2"})
    assert named(job, "optimizer.master") == 4 * WHOLE // RANKS
    assert named(job, "gathered.layer", Moment.WARMUP_FORWARD) == 2 * LAYER
    assert named(job, "gathered.ends") == 0


def test_sharding_more_never_takes_more_at_rest() -> None:
    resting = [stage_of(sharded(stage)).moments[Moment.OPTIMIZER_STEP] for stage in (1, 2, 3)]
    assert resting == sorted(resting, reverse=True)


ROWS = [
    row
    for line in (Path(__file__).parents[1] / "data" / "jobs_megatron_ci.jsonl").read_text("utf-8").splitlines()
    if (row := json.loads(line))["job"].get("sharding", {}).get("stage") == 3
    and row["job"]["precision"]["compute"] == "bf16"
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_megatrons_own_runs(row: dict[str, Any]) -> None:
    job = resolve(Job.model_validate(row["job"]))
    accelerator = accelerator_of(device_of(row["device"], "/device"))
    found = estimate(job.model, job.layout, job.recipe, accelerator).worst_stage
    assert found.allocated_bytes == pytest.approx(row["measured"]["bytes"], rel=0.006)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"parallelism": {"pipeline": 2}}, "a pipeline with sharding stage 3"),
        ({"precision": {"compute": "fp32"}}, "fp32 training with sharding stage 3"),
        ({"precision": {"fp8": {"recipe": "current"}}}, "8-bit training with sharding stage 3"),
        ({"optimizer": {"offload": "cpu"}}, "offload with sharding stage 3"),
        ({"optimizer": {"name": "muon"}}, "the optimizer muon with sharding stage 3"),
        ({"sharding": {"stage": 2, "implementation": "torch_fsdp2"}}, "torch FSDP2 without sharded weights"),
    ],
)
def test_what_has_not_been_read_is_refused_by_name(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidJob, match=said):
        sharded(**changes)


def test_every_line_of_the_worst_moment_is_in_one_scope() -> None:
    stage = stage_of(sharded())
    assert sum(int(line.bytes) for line in stage.ledger if line.scope is Scope.ALLOCATED) == stage.allocated_bytes
