"""How a search grows: layouts per second and peak memory from ten thousand layouts to ten million, on one core.

Every size is a search of its own process: GPT-3 175B with per-stage peaks, verdicts, step times, ranking and frontier.
"""

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from service.calculator.model import Attention, LayerKind, Mlp, Model
from service.planner.problem import Problem
from service.planner.search import Region, search
from service.planner.space import SearchSpace, whole_space
from tests.builders import A100, recipe

GPT_3 = Model(
    name="gpt-3-175b",
    hidden_size=12288,
    vocab_size=51200,
    kinds=(LayerKind(Attention(96, 96, 128, qkv_bias=True, output_bias=True), Mlp(49152, "gelu", bias=True)),),
    pattern=(0,) * 96,
    normalization="layernorm",
    position_embedding="learned",
    max_positions=2048,
    tied_embeddings=True,
)


def space(world_size: int, global_batch: int) -> SearchSpace:
    """Every layout of GPT-3 on so many GPUs."""
    return whole_space(
        GPT_3, recipe(), world_size=world_size, gpus_per_node=8, global_batch=global_batch, sequence_length=2048
    )


def spaces() -> dict[str, SearchSpace]:
    """Spaces of about ten thousand, a hundred thousand, a million and ten million layouts."""
    one = space(512, 1536)
    return {
        "512 GPUs, c = 1, b = 1": replace(one, context=(1,), micro=(1,)),
        "512 GPUs, c <= 4, b <= 4": replace(one, context=(1, 2, 4), micro=(1, 2, 3, 4)),
        "512 GPUs": one,
        "1536 GPUs": space(1536, 4608),
    }


def searched(name: str) -> tuple[int, float, float]:
    """Layouts, processor seconds and peak memory (MiB) of one search."""
    began = time.process_time()
    found = search([Region(Problem(GPT_3, recipe(), A100), spaces()[name])])
    seconds = time.process_time() - began
    return found.searched, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print one line for each size."""
    print("search of GPT-3 175B, one core          layouts     seconds    layouts/s    peak MiB")
    fresh = multiprocessing.get_context("spawn")
    for name in spaces():
        with ProcessPoolExecutor(1, mp_context=fresh) as process:
            layouts, seconds, memory = process.submit(searched, name).result()
        print(f"  {name:33} {layouts:12,} {seconds:11.2f} {layouts / seconds:12,.0f} {memory:11,.0f}")


if __name__ == "__main__":
    main()
