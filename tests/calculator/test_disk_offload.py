"""DeepSpeed's offload to disk (ZeRO-Infinity): what is left on the host, and no more on the GPU than with the host.

Source: DeepSpeed @ edaa7221 runtime/zero/offload_config.py (defaults), runtime/zero/stage3.py,
runtime/swap_tensor/optimizer_utils.py and partitioned_param_swapper.py.
"""

from typing import Any

import pytest

from service.calculator.estimate import Estimate, estimate
from service.job.resolve import InvalidJob, Resolved, resolve
from service.job.schema import Job
from tests.builders import H100

RANKS = 8
SHARD = 70_553_706_496 // RANKS


def offloaded(states: Any, weights: str = "none", **changes: Any) -> Resolved:
    """Llama 3 70B over eight GPUs of one node at stage 3."""
    document: dict[str, Any] = {
        "model": {"preset": "llama-3-70b"},
        "framework": {"name": "deepspeed"},
        "world_size": RANKS,
        "batch": {"micro": 1, "sequence_length": 2048},
        "sharding": {"stage": 3},
        "optimizer": {"offload": states, "parameter_offload": weights},
    }
    for section, values in changes.items():
        document[section] = {**document.get(section, {}), **values}
    return resolve(Job.model_validate(document))


def estimated(job: Resolved) -> Estimate:
    return estimate(job.model, job.layout, job.recipe, H100)


def host_bytes(job: Resolved) -> int:
    return estimated(job).host_bytes_per_node // RANKS


def test_states_on_disk_leave_16_bit_gradients_and_four_buffers_of_a_sub_group() -> None:
    assert host_bytes(offloaded("nvme")) == 2 * SHARD + 4 * 4 * 1_000_000_000


def test_a_small_shard_is_one_sub_group() -> None:
    small = offloaded("nvme", model={"preset": "llama-3-8b"})
    shard = 8_030_261_248 // RANKS
    assert host_bytes(small) == 2 * shard + 4 * 4 * min(shard, 1_000_000_000)


def test_weights_on_disk_leave_five_buffers_one_sub_group_and_a_milliard_of_them() -> None:
    more = host_bytes(offloaded("nvme", "nvme")) - host_bytes(offloaded("nvme"))
    assert more == 2 * (5 * 100_000_000 + 1_000_000_000 + 1_000_000_000)


def test_buffers_are_those_that_are_stated() -> None:
    swap = {"states": 5, "weights": 2, "weights_size": 1000, "weights_in_cpu": 0}
    job = offloaded("nvme", "nvme", optimizer={"swap": swap})
    assert host_bytes(job) == 2 * SHARD + 5 * 4 * 1_000_000_000 + 2 * (2 * 1000 + 1_000_000_000)


@pytest.mark.parametrize("weights", ["none", "cpu"])
def test_the_gpu_holds_what_it_does_with_states_on_the_host(weights: str) -> None:
    disk, host = (estimated(offloaded(where, weights)).peak for where in ("nvme", "cpu"))
    assert disk == host


def test_a_disk_takes_load_off_the_host() -> None:
    assert (
        host_bytes(offloaded("nvme", "nvme"))
        < host_bytes(offloaded("nvme", "cpu"))
        < host_bytes(offloaded("cpu", "cpu"))
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sharding": {"stage": 2}}, "offload to disk with deepspeed at sharding stage 2"),
        ({"framework": {"name": "fsdp2"}}, "offload to disk with fsdp2"),
        ({"framework": {"name": "megatron-core"}, "sharding": {"stage": 1}}, "offload to disk with megatron-core"),
    ],
)
def test_only_stage_3_reaches_disks(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidJob, match=said):
        offloaded("nvme", **changes)
