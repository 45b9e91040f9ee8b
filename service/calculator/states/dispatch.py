"""The states of a stage under the recipe's framework."""

from collections.abc import Sequence

from service.calculator.layout import Layout
from service.calculator.ledger import Line
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.stage import Stage
from service.calculator.states.adapters import with_adapters
from service.calculator.states.ddp import ddp_host_lines, ddp_lines
from service.calculator.states.fsdp import fsdp_host_lines, fsdp_lines
from service.calculator.states.megatron import megatron_host_lines, megatron_lines
from service.calculator.states.megatron_fsdp import megatron_fsdp_lines
from service.calculator.states.nanotron import nanotron_lines
from service.calculator.states.stage import StageParameters, stage_parameters
from service.calculator.states.zero import zero_host_lines, zero_lines


def held_parameters(stage: Stage, model: Model, layout: Layout, recipe: Recipe) -> list[StageParameters]:
    """The model's parameters on a stage, and the adapters beside them."""
    return with_adapters(stage_parameters(stage, model, layout, recipe), stage, model, layout, recipe)


def state_lines(
    held: Sequence[StageParameters], stage: Stage, model: Model, layout: Layout, recipe: Recipe
) -> list[Line]:
    """Lines of weights, gradients, optimizer states, and of the buffers that the framework moves them through."""
    last = stage.head is not None
    match recipe.sharding.units or recipe.framework:
        case "megatron_fsdp":
            return megatron_fsdp_lines(held, layout, recipe, tied=model.tied_embeddings)
        case "megatron-core":
            return megatron_lines(held, stage, model, layout, recipe)
        case "nanotron":
            return nanotron_lines(held, stage, model, layout, recipe)
        case "deepspeed":
            return zero_lines(held, layout, recipe, last=last)
        case "fsdp2" | "fsdp1" | "torch_fsdp2":
            tied = (model.tied_embeddings or recipe.sharding.ends_together) and layout.pipeline == 1
            return fsdp_lines(held, layout, recipe, tied=tied, last=last)
        case _:
            return ddp_lines(held, layout, recipe, last=last)


def host_lines(held: Sequence[StageParameters], layout: Layout, recipe: Recipe) -> list[Line]:
    """Lines of what one rank of a stage keeps in its node's memory."""
    match recipe.framework:
        case "megatron-core" | "nanotron":
            return megatron_host_lines(held, layout, recipe)
        case "deepspeed":
            return zero_host_lines(held, layout, recipe)
        case "fsdp2" | "fsdp1":
            return fsdp_host_lines(held, layout, recipe)
        case _:
            return ddp_host_lines(held, recipe)
