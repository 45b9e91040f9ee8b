"""DeepSpeed: ZeRO stages 0 to 3, its 16-bit optimizers, offload (memory_model.md, section 2.2).

Flat 16-bit weights, a flat fp32 partition that the optimizer updates, and gradients that are whole (stages 0 and 1) or
a partition (2 and 3). Source: DeepSpeed @ edaa7221, deepspeed/runtime/zero/stage_1_and_2.py, stage3.py,
fp16/fused_optimizer.py and bf16_optimizer.py.
"""

from collections.abc import Sequence
from dataclasses import replace

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, BACKWARD, FROM_START, Category, Line, Moment, Tensor
from service.calculator.recipe import Recipe
from service.calculator.states.gathers import gather_lines
from service.calculator.states.gradients import growing, several_micro_batches, whole_gradients
from service.calculator.states.optimizers import Owned, optimizer_lines, optimizer_states
from service.calculator.states.stage import StageParameters, largest_parameter, parameter_count, trained
from service.calculator.states.weights import weight_lines
from service.calculator.units import BYTES, Int, ceil_div, minimum, where

SOURCE = "memory_model.md 2.2"
STAGE = ("tensor", "pipeline")
PARTITION = ("tensor", "pipeline", "data", "context")
SUB_GROUP = 1_000_000_000
"""Elements that stage 3 updates together (deepspeed/runtime/zero/config.py, sub_group_size)."""

ALL_REDUCE = 500_000_000
"""Elements that whole gradients are flattened into for one all-reduce (engine.py, MEMORY_OPT_ALLREDUCE_SIZE)."""

STEP = (Moment.OPTIMIZER_STEP,)
BEFORE_THE_STEP = tuple(each for each in ALWAYS if each is not Moment.OPTIMIZER_STEP)


def zero_lines(parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe, *, last: bool) -> list[Line]:
    """Everything that a stage keeps beside activations."""
    learned = trained(parameters)
    elements = parameter_count(learned)
    shard = ceil_div(elements, layout.shards)
    return [
        *_weights(parameters, layout, recipe),
        *_gradients(learned, shard, layout, recipe, last=last),
        *_reduction(learned, layout, recipe),
        *_states(shard, layout, recipe),
        *_step(elements, shard, layout, recipe),
    ]


def zero_host_lines(parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe) -> list[Line]:
    """What offload keeps in host memory: fp32 weights, moments and gradients, and pinned 16-bit copies.

    States on disk leave the 16-bit gradients and buffers for one sub-group; weights on disk leave their own buffers,
    one as large as a sub-group for what the step writes, and as many weights as may stay (runtime/swap_tensor/
    partitioned_param_swapper.py, optimizer_utils.py; zero/stage3.py, _create_param_groups_fp16_flat_cpu_memory).
    """
    percent, lines = recipe.optimizer.offload_percent, []
    optimizer, swap = recipe.optimizer, recipe.optimizer.swap
    if optimizer.nvme:
        shard = ceil_div(parameter_count(trained(parameters)), layout.shards)
        group = minimum(shard, SUB_GROUP)
        lines += [
            _line("host.pinned", Category.OPTIMIZER, shard, recipe.gradients, ALWAYS),
            _line("host.swap.states", Category.OPTIMIZER, group, "fp32", ALWAYS, swap.states),
        ]
    elif percent:
        shard = ceil_div(parameter_count(trained(parameters)), layout.shards) * percent // 100
        states = [(name, elements, dtype) for name, elements, dtype in optimizer_states(_flat(shard), recipe)]
        states += [("master", shard, "fp32"), ("gradients", shard, "fp32"), ("pinned", shard, recipe.parameters)]
        lines += [_line(f"host.{name}", Category.OPTIMIZER, size, dtype, ALWAYS) for name, size, dtype in states]
        lines += _accumulated_on_host(shard, largest_parameter(trained(parameters)), layout, recipe)
    if optimizer.parameters_on_host:
        whole = ceil_div(parameter_count(parameters), layout.shards)
        kept = minimum(whole, swap.weights_in_cpu) if optimizer.parameters_on_nvme else whole
        lines.append(_line("host.weights", Category.WEIGHTS, kept, recipe.parameters, ALWAYS))
    if optimizer.parameters_on_nvme:
        group = minimum(ceil_div(parameter_count(trained(parameters)), layout.shards), SUB_GROUP)
        lines += [
            _line("host.swap.weights", Category.WEIGHTS, swap.weights_size, recipe.parameters, ALWAYS, swap.weights),
            _line("host.swap.written", Category.WEIGHTS, group, recipe.parameters, ALWAYS),
        ]
    return lines


def _accumulated_on_host(shard: Int, largest: Int, layout: Layout, recipe: Recipe) -> list[Line]:
    """Stages 1 and 2: the 16-bit sum of earlier micro-batches' gradients, and a buffer for the largest.

    Source: zero/stage_1_and_2.py, async_accumulate_grad_in_cpu_via_gpu and temp_grad_buffer_for_cpu_offload.
    """
    partitioned = 1 - _at_least(layout, 3)
    summed = several_micro_batches(layout) * partitioned
    return [
        _line("host.accumulated", Category.OPTIMIZER, shard, recipe.parameters, ALWAYS, summed),
        _line("host.largest_gradient", Category.OPTIMIZER, largest, recipe.parameters, ALWAYS, partitioned),
    ]


def _line(name: str, category: Category, elements: Int, dtype: str, alive: tuple[Moment, ...], count: Int = 1) -> Line:
    return Line(Tensor(name, category, (elements,), dtype, PARTITION, SOURCE), count, alive)


def _at_least(layout: Layout, stage: int) -> Int:
    """1 where the sharding stage is at least this, else 0."""
    return where(layout.sharding_stage // stage, 1, 0)


def _weights(parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe) -> list[Line]:
    """Flat weights; where there is no room for a second copy, stages 1 and 2 flatten them on the host."""
    third = _at_least(layout, 3)
    lines = gather_lines(parameters, recipe, third)
    shards = where(third, layout.shards, 1)
    if not recipe.optimizer.parameters_on_host:
        lines += weight_lines(parameters, recipe, shards, where(third, layout.expert_shards, 1))
    return lines


def _accumulates_in_fp32(layout: Layout, recipe: Recipe) -> Int:
    """1 where DeepSpeed's BF16_Optimizer runs: whole fp32 gradients over bf16 weights, at stage 1 or in a pipeline."""
    if recipe.compute != "bf16" or recipe.gradients != "fp32":
        return 0
    return 1 - _at_least(layout, 2)


def _gradients(
    learned: Sequence[StageParameters], shard: Int, layout: Layout, recipe: Recipe, *, last: bool
) -> list[Line]:
    """Whole until the step at stages 0 and 1, a partition that grows at stage 2, a permanent partition at stage 3."""
    second, third = _at_least(layout, 2), _at_least(layout, 3)
    permanent = _accumulates_in_fp32(layout, recipe)
    kept = where(permanent, 1, several_micro_batches(layout))
    lines = [_before_the_step(line, 1 - second) for line in whole_gradients(learned, recipe.gradients, kept, last=last)]
    on_device = 0 if recipe.optimizer.offload_percent else 1
    partition = Tensor("gradients.partition", Category.GRADIENTS, (shard,), recipe.gradients, PARTITION, SOURCE)
    lines += [_before_the_step(line, (second - third) * on_device) for line in growing(partition, layout)]
    lines.append(Line(partition, third * on_device, FROM_START))
    arriving = largest_parameter(learned)
    lines.append(_line("gradients.arriving", Category.GRADIENTS, arriving, recipe.compute, BACKWARD, second))
    if recipe.optimizer.offload_percent:
        lines.append(
            _line("gradients.on_their_way", Category.GRADIENTS, arriving, recipe.compute, ALWAYS, _at_least(layout, 1))
        )
    return lines


def _before_the_step(line: Line, count: Int) -> Line:
    """The line without the step, which has gradients of its own."""
    return replace(line, count=line.count * count, alive=tuple(each for each in line.alive if each not in STEP))


def _reduction(learned: Sequence[StageParameters], layout: Layout, recipe: Recipe) -> list[Line]:
    """Buckets that gradients are copied into, or whole gradients flattened for an all-reduce.

    Stages 1 and 2 have buckets in the backward (a pipeline reduces at its end), stage 3 for good; BF16_Optimizer and
    stage 0 all-reduce.
    """
    third, flat = _at_least(layout, 3), _accumulates_in_fp32(layout, recipe)
    bucketed = where(flat, 0, _at_least(layout, 1)) - third
    buckets = 2 if recipe.sharding.overlap else 1
    moments = BACKWARD if layout.pipeline == 1 else (Moment.EMBEDDING_BACKWARD,)
    replicas = where(layout.shards - 1, 1, where(layout.data * layout.context - 1, 1, 0))
    unbucketed = (1 - bucketed - third) * replicas
    whole = minimum(parameter_count(learned), ALL_REDUCE)
    bucket, dtype = recipe.sharding.reduce, recipe.compute
    return [
        _line("gradients.buckets", Category.COMMUNICATION, bucket, dtype, moments, bucketed * buckets),
        _line("gradients.bucket", Category.COMMUNICATION, bucket, dtype, FROM_START, third),
        _line(
            "gradients.all_reduce",
            Category.COMMUNICATION,
            whole,
            recipe.gradients,
            (Moment.EMBEDDING_BACKWARD,),
            unbucketed,
        ),
    ]


def _flat(shard: Int) -> list[Owned]:
    return [Owned(shard, 1, "fp32")]


def _states(shard: Int, layout: Layout, recipe: Recipe) -> list[Line]:
    """The fp32 partition and its moments; the update runs when only the fp32 gradients are left."""
    on_device = 100 - recipe.optimizer.offload_percent
    first, third = _at_least(layout, 1), _at_least(layout, 3)
    left = where(third, minimum(shard, SUB_GROUP), 2 * shard) * BYTES[recipe.gradients]
    released = left * first * (1 - _accumulates_in_fp32(layout, recipe))
    lines = optimizer_lines(_flat(shard), recipe, PARTITION, on_device, released=released)
    if recipe.master is not None:
        kept = (Moment.CHECKPOINT_RESUME, *ALWAYS)
        master = shard * on_device // 100
        lines.append(_line("optimizer.master", Category.OPTIMIZER, master, recipe.master, kept))
    return lines


def _step(elements: Int, shard: Int, layout: Layout, recipe: Recipe) -> list[Line]:
    """Gradients at the step: those that are updated, flattened, and in fp32.

    Stage 0 casts every gradient before it flattens them; stage 3 works on one sub-group at a time.
    """
    if recipe.optimizer.offload_percent or recipe.optimizer.name == "none":
        return []
    first, third = _at_least(layout, 1), _at_least(layout, 3)
    permanent = _accumulates_in_fp32(layout, recipe)
    cast = recipe.gradients != "fp32"
    flat = 1 - permanent
    updated = where(first, shard, elements)
    group = where(third, minimum(shard, SUB_GROUP), updated)
    name, category = "gradients", Category.GRADIENTS
    whole = where(permanent, elements, updated)
    lines = [
        _line(f"{name}.updated", category, whole, recipe.gradients, STEP, 1 - third),
        _line(f"{name}.flattened", category, group, recipe.gradients, STEP, flat * first),
        _line(f"{name}.flattened_in_fp32", category, group, "fp32", STEP, flat * (1 - first)),
    ]
    if cast:
        lines.append(_line(f"{name}.in_fp32", category, group, "fp32", STEP, flat))
    return lines
