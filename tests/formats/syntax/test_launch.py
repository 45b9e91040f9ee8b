"""Launchers taken apart from the script, and the number of processes that they start."""

import shlex
from collections.abc import Mapping

import pytest

from service.formats.syntax import slurm
from service.formats.syntax.launch import Launch, Processes, count_processes, split_launch
from service.formats.syntax.words import Holes, Word

HOLES = Holes()


def split(command: str) -> Launch:
    return split_launch([Word(each) for each in shlex.split(command)], HOLES, {"num_layers"}.__contains__)


def count(command: str, batch: str = "", variables: Mapping[str, str] | None = None) -> Processes:
    known = {name: Word(value) for name, value in (variables or {}).items()}
    return count_processes(split(command), slurm.directives(batch), known.get, HOLES)


@pytest.mark.parametrize(
    ("command", "programs", "entry"),
    [
        ("torchrun --nproc_per_node 8 pretrain.py --num-layers 2", ["torchrun"], "pretrain.py"),
        (
            "python -u -m torch.distributed.run --nnodes 2 a/pretrain.py --num-layers 2",
            ["python", "torchrun"],
            "pretrain.py",
        ),
        ("python3.11 -m torch.distributed.launch x.py --num-layers 2", ["python", "torchrun"], "x.py"),
        ("srun -N 2 --gres=gpu:8 torchrun x.py --num-layers 2", ["srun", "torchrun"], "x.py"),
        ("mpirun -np 16 -x A=B python x.py --num-layers 2", ["mpirun", "python"], "x.py"),
        ("deepspeed --num_gpus 8 x.py --num-layers 2", ["deepspeed"], "x.py"),
        ("python -m megatron.training --num-layers 2", ["python"], "megatron.training"),
        ("env A=1 nohup python x.py --num-layers 2", ["python"], "x.py"),
        ("$CMD --num-layers 2", [], ""),
    ],
)
def test_launchers_and_script(command: str, programs: list[str], entry: str) -> None:
    launch = split(command)

    assert [each.program for each in launch.launchers] == programs
    assert launch.entry == entry
    assert [each.text for each in launch.arguments] == ["--num-layers", "2"]


def test_the_same_flag_may_stand_on_both_sides() -> None:
    launch = split("torchrun --node_rank 0 x.py --node_rank 3")

    assert launch.launchers[0].options["node_rank"].text == "0"
    assert [each.text for each in launch.arguments] == ["--node_rank", "3"]


@pytest.mark.parametrize(
    ("command", "batch", "variables", "size"),
    [
        ("torchrun --nproc_per_node=8 --nnodes=4 x.py", "", {}, 32),
        ("torchrun --nproc-per-node 8 x.py", "", {}, 8),
        ("torchrun --nnodes 1:4 --nproc_per_node 8 x.py", "", {}, 32),
        ("srun -N2 -n16 python x.py", "", {}, 16),
        ("srun --nodes 2 --ntasks-per-node 8 python x.py", "", {}, 16),
        ("srun python x.py", "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\n", {}, 16),
        ("srun python x.py", "#SBATCH -N 2 # two\n#SBATCH --gres=gpu:a100:4\n", {}, 8),
        (
            "srun torchrun --nproc_per_node 8 --nnodes 2 x.py",
            "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n",
            {},
            16,
        ),
        ("mpirun -np 16 python x.py", "", {}, 16),
        ("deepspeed --num_nodes 2 --num_gpus 8 x.py", "", {}, 16),
        ("accelerate launch --num_processes 32 --num_machines 4 x.py", "", {}, 32),
        ("python x.py", "", {"WORLD_SIZE": "64"}, 64),
        ("python x.py", "", {"NNODES": "2", "GPUS_PER_NODE": "8"}, 16),
        ("torchrun x.py", "", {}, None),
        ("python x.py", "", {}, None),
    ],
)
def test_processes(command: str, batch: str, variables: dict[str, str], size: int | None) -> None:
    assert count(command, batch, variables).size == size


def test_a_number_that_only_a_name_suggests_is_marked_as_assumed() -> None:
    processes = count("deepspeed x.py", variables={"NUM_GPUS": "64"})

    assert (processes.size, processes.assumed) == (64, True)


def test_auto_is_settled_at_run_time() -> None:
    processes = count("torchrun --nproc_per_node gpu --nnodes 2 x.py")

    assert (processes.size, processes.nodes) == (None, 2)
    assert [each.name for each in processes.holes] == ["gpu"]


def test_slurm_sets_its_variables() -> None:
    options = slurm.directives("#!/bin/bash\n#SBATCH --nodes 4\n#SBATCH --gpus-per-node=h100:8\n#SBATCH --nodes=2\n")

    assert slurm.variables(options) == {
        "SLURM_NNODES": "2",
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_GPUS_ON_NODE": "8",
        "SLURM_GPUS_PER_NODE": "8",
    }
    assert options["nodes"].where == "line 4: #SBATCH --nodes"
