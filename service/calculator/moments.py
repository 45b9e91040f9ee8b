"""Which moments occur on a stage."""

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, LOADING, Moment
from service.calculator.recipe import Recipe
from service.calculator.stage import Stage

LOADED_AS_KNOWN = {
    "megatron-core": LOADING,
    "deepspeed": (Moment.INITIALIZATION,),
    "fsdp2": (Moment.CHECKPOINT_RESUME,),
}
"""Loading moments whose order of allocations has been read.

Megatron makes its buffers before it moves the weights into them, and its states before it loads them
(param_and_grad_buffer.py; distrib_optimizer.py, _init_optimizer_states_with_dummy_values); DeepSpeed flattens weights
on the GPU (stage_1_and_2.py); torchtitan steps once on zeros before it loads (components/optimizer/utils.py).
"""


def grows_gradients(recipe: Recipe) -> bool:
    """Whether gradients appear during the backward, so that its end may be the worst; Megatron's are one buffer."""
    return recipe.framework != "megatron-core"


def occurring(stage: Stage, layout: Layout, recipe: Recipe) -> list[Moment]:
    """The moments that occur on a stage: those of the loss on the last one only, recomputation only when asked for."""
    absent: set[Moment] = set()
    if stage.head is None:
        absent |= {Moment.LOSS, Moment.HEAD_BACKWARD, Moment.LAYER_BACKWARD}
    if layout.checkpointing.granularity == "none":
        absent.add(Moment.RECOMPUTE)
    if not grows_gradients(recipe):
        absent |= {Moment.LAST_BACKWARD, Moment.EMBEDDING_BACKWARD}
    if recipe.optimizer.in_backward or recipe.optimizer.name == "none":
        absent.add(Moment.OPTIMIZER_STEP)
    loading = LOADED_AS_KNOWN.get(recipe.framework, ()) if recipe.loading_known else ()
    return [*loading, *(each for each in ALWAYS if each not in absent)]
