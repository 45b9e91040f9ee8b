"""Which moments occur on a stage."""

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, LOADING, Moment
from service.calculator.recipe import Recipe
from service.calculator.stage import Stage


def grows_gradients(recipe: Recipe) -> bool:
    """Whether gradients appear during the backward, so that its end may be the worst; Megatron's are one buffer.

    Where Megatron shards them, they are whole until they are reduced.
    """
    return not recipe.habits.gradients_in_buffer or bool(recipe.sharding.units)


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
    known = {
        Moment.INITIALIZATION: recipe.habits.initialization_known,
        Moment.CHECKPOINT_RESUME: recipe.habits.resume_known,
    }
    loading = [each for each in LOADING if known[each]] if recipe.loading_known else []
    return [*loading, *(each for each in ALWAYS if each not in absent)]
