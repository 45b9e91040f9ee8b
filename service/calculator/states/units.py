"""Units of fully sharded data parallelism while they are gathered and reduced (memory_model.md, section 2.3).

A unit is the embedding, a layer, or the final norm with the head. FSDP2 gathers a unit into a flat buffer, copies it
out into the weights, and frees both; in the forward the flat buffer stays until the next copy-out. In the backward
the unit before is gathered early, and gradients are copied into the input of a reduce-scatter that stays until the next
one. FSDP1 gathers straight into the weights, and keeps embedding and head, which are its root, through the whole step.
Sources: torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py; _runtime_utils.py of FSDP1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, BACKWARD, Category, Line, Moment, Stream, Tensor
from service.calculator.recipe import Recipe
from service.calculator.states.gradients import in_a_layer, several_micro_batches
from service.calculator.states.stage import (
    EMBEDDING,
    HEAD,
    StageParameters,
    parameter_count,
    trained,
    unit_elements,
)
from service.calculator.units import BYTES, Int, maximum, where

SOURCE = "memory_model.md 2.3"
SHARDED = ("tensor", "pipeline", "data", "context")
IN_FORWARD = (Moment.WARMUP_FORWARD, Moment.LOSS, Moment.FIRST_BACKWARD)
UNSHARDED_STAGES = 3
"""Chunks of a pipeline rank that stay gathered (torch/distributed/pipelining/schedules.py, _add_unshard_reshard)."""


@dataclass(frozen=True, slots=True)
class Units:
    """Elements of the embedding, of the largest layer, of all layers, and of the head."""

    embedding: Int
    layer: Int
    layers: Int
    head: Int

    @property
    def all(self) -> Int:
        """Elements of the whole stage."""
        return self.embedding + self.layers + self.head


def units_of(parameters: Sequence[StageParameters]) -> Units:
    """Sizes of a stage's units."""
    sizes = unit_elements(parameters)
    layer: Int = 0
    for unit, size in sizes.items():
        if unit not in {EMBEDDING, HEAD}:
            layer = maximum(layer, size)
    inner = [each for each in parameters if each.unit not in {EMBEDDING, HEAD}]
    return Units(sizes.get(EMBEDDING, 0), layer, parameter_count(inner), sizes.get(HEAD, 0))


def unit_lines(
    parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe, *, tied: bool, last: bool
) -> list[Line]:
    """Gathered weights, whole gradients and buffers of collectives. `tied`: embedding and head are one unit."""
    gathered, learned = units_of(parameters), units_of(graded(parameters, recipe))
    if layout.pipeline > 1 and not recipe.habits.flat_parameters:
        return _pipelined_lines(gathered, learned, layout, recipe, last=last)
    waiting = _unsharded_sum(learned, layout, recipe) if recipe.sharding.no_sync else []
    if recipe.habits.flat_parameters:
        return waiting + _flat_parameter_lines(gathered, learned, recipe, last=last)
    return waiting + (_tied_lines if tied else _plain_lines)(gathered, learned, recipe)


def graded(parameters: Sequence[StageParameters], recipe: Recipe) -> list[StageParameters]:
    """The parameters that get a gradient: the trained ones, and frozen ones that are flattened together with them.

    The gradient of a flat parameter is as large as itself (torch/distributed/fsdp/_flat_param.py, use_orig_params).
    """
    learned = trained(parameters)
    if not recipe.habits.flat_parameters or recipe.sharding.adapters_apart:
        return learned
    units = {each.unit for each in learned}
    return [each for each in parameters if each.unit in units]


def _plain_lines(gathered: Units, graded: Units, recipe: Recipe) -> list[Line]:
    """Embedding, layers and head as units of their own, without a pipeline."""
    whole = recipe.sharding.reshard == "never"
    layer = in_a_layer(last=True)
    held = (Moment.LOSS, Moment.FIRST_BACKWARD) if recipe.sharding.reshard != "always" else ()
    lines = [
        _flat("layer", gathered.layer, (Moment.WARMUP_FORWARD,), recipe),
        _flat("hand_over", gathered.layer + gathered.head, (), recipe),
        _weights("head", gathered.head, (*held, Moment.HEAD_BACKWARD), recipe),
        _gradient("head", graded.head, (Moment.HEAD_BACKWARD,), recipe),
        _gradient("layer", graded.layer, (*layer, Moment.LAST_BACKWARD), recipe),
        _reduced("head", maximum(graded.head, graded.layer), layer, recipe),
        _reduced("layer", graded.layer, (Moment.LAST_BACKWARD,), recipe),
        *_embedding_end(gathered, graded, recipe),
    ]
    if whole:
        kept = (*IN_FORWARD, Moment.HEAD_BACKWARD, *layer)
        return [
            *lines,
            _weights("layers", gathered.embedding + gathered.layers, kept, recipe),
            _weights("first_layer", gathered.embedding + gathered.layer, (Moment.LAST_BACKWARD,), recipe),
        ]
    return [
        *lines,
        _weights("layer", gathered.layer, (Moment.WARMUP_FORWARD, *layer, Moment.LAST_BACKWARD), recipe),
        _flat("layer_before", gathered.layer, (Moment.HEAD_BACKWARD, *layer), recipe),
        _flat("embedding", gathered.embedding, (Moment.LAST_BACKWARD,), recipe),
    ]


def _embedding_end(gathered: Units, graded: Units, recipe: Recipe) -> list[Line]:
    """The embedding's backward: weights and gradient beside the last layer's reduction, or the gradient and its own."""
    moment = (Moment.EMBEDDING_BACKWARD,)
    own = graded.embedding * _width(recipe.reduce)
    beside = gathered.embedding * _width(_gathered_type(recipe, "embedding")) + graded.layer * _width(recipe.reduce)
    first = where(beside // maximum(own, 1), 1, 0)
    return [
        _gradient("embedding", graded.embedding, moment, recipe),
        _counted(_weights("embedding", gathered.embedding, moment, recipe), first),
        _counted(_reduced("layer", graded.layer, moment, recipe), first),
        _counted(_reduced("embedding", graded.embedding, moment, recipe), 1 - first),
    ]


def _tied_lines(gathered: Units, graded: Units, recipe: Recipe) -> list[Line]:
    """Embedding, final norm and head in one unit: gathered from the first forward to the end of the backward."""
    ends, graded_ends = gathered.embedding + gathered.head, graded.embedding + graded.head
    layer = in_a_layer(last=True)
    every = (*IN_FORWARD, *(each for each in BACKWARD if each not in IN_FORWARD))
    from_head = (Moment.HEAD_BACKWARD, *layer, Moment.LAST_BACKWARD, Moment.EMBEDDING_BACKWARD)
    whole = recipe.sharding.reshard == "never"
    kept = gathered.layers if whole else gathered.layer
    moments = (*IN_FORWARD, Moment.HEAD_BACKWARD, *layer) if whole else (Moment.WARMUP_FORWARD, *layer)
    return [
        _weights("ends", ends, every, recipe),
        _flat("ends", ends, (), recipe),
        _flat("layer", gathered.layer, (Moment.WARMUP_FORWARD,), recipe),
        _gradient("ends", graded_ends, from_head, recipe),
        _weights("layers", kept, moments, recipe),
        _weights("first_layer", gathered.layer, (Moment.LAST_BACKWARD,), recipe),
        _flat("layer_before", 0 if whole else gathered.layer, (Moment.HEAD_BACKWARD, *layer), recipe),
        _gradient("layer", graded.layer, (*layer, Moment.LAST_BACKWARD), recipe),
        _reduced("layer", graded.layer, (*layer, Moment.LAST_BACKWARD), recipe),
        _reduced("ends", graded_ends, (Moment.EMBEDDING_BACKWARD,), recipe),
    ]


def _pipelined_lines(gathered: Units, graded: Units, layout: Layout, recipe: Recipe, *, last: bool) -> list[Line]:
    """A pipeline neither frees gathered weights nor reduces gradients before the stage's last backward."""
    chunks = min(layout.virtual, UNSHARDED_STAGES)
    weights = gathered.all * chunks // layout.virtual
    passing = tuple(each for each in ALWAYS if each is not Moment.OPTIMIZER_STEP)
    largest = maximum(maximum(graded.embedding, graded.head), graded.layer)
    return [
        _weights("stage", weights, passing, recipe),
        *_unsharded_sum(graded, layout, recipe),
        _gradient("layer", graded.layer, in_a_layer(last=last), recipe),
        _gradient("head", graded.head, (Moment.HEAD_BACKWARD,), recipe),
        _reduced("unit", largest, (Moment.EMBEDDING_BACKWARD,), recipe),
    ]


def _unsharded_sum(graded: Units, layout: Layout, recipe: Recipe) -> list[Line]:
    """Whole gradients added up over micro-batches: in the type of the reduction, FSDP1's in that of activations."""
    dtype = recipe.compute if recipe.habits.flat_parameters else recipe.reduce
    tensor = Tensor("gradients.unsharded", Category.GRADIENTS, (graded.all,), dtype, ("tensor", "pipeline"), SOURCE)
    waiting = tuple(each for each in ALWAYS if each is not Moment.OPTIMIZER_STEP)
    several = several_micro_batches(layout)
    grown = (Moment.LAST_BACKWARD, Moment.EMBEDDING_BACKWARD)
    return [Line(tensor, several, waiting), Line(tensor, 1 - several, grown)]


def _flat_parameter_lines(gathered: Units, graded: Units, recipe: Recipe, *, last: bool) -> list[Line]:
    """FSDP1: the root unit stays gathered, two layers at most are, and a reduction may need a copy of its gradient."""
    whole = recipe.sharding.reshard == "never"
    layer = in_a_layer(last=last)
    passing = tuple(each for each in ALWAYS if each is not Moment.OPTIMIZER_STEP)
    from_head = (Moment.HEAD_BACKWARD, *layer, Moment.LAST_BACKWARD, Moment.EMBEDDING_BACKWARD)
    root, graded_root = gathered.embedding + gathered.head, graded.embedding + graded.head
    cast = recipe.reduce != recipe.compute
    forward = (*IN_FORWARD, Moment.HEAD_BACKWARD, *layer) if whole else (Moment.WARMUP_FORWARD, *layer)
    own = Stream.GATHER
    lines = [
        replace(_weights("root", root, passing, recipe), stream=own),
        _gradient("root", graded_root, from_head, recipe),
        replace(_weights("layers", gathered.layers if whole else 2 * gathered.layer, forward, recipe), stream=own),
        replace(_weights("first_layer", gathered.layer, (Moment.LAST_BACKWARD,), recipe), stream=own),
        _gradient("layer", graded.layer, (*layer, Moment.LAST_BACKWARD), recipe),
        _gradient("layer_reduced", graded.layer, layer, recipe),
    ]
    if cast:
        lines += [
            _reduced("layer", graded.layer, (*layer, Moment.LAST_BACKWARD), recipe),
            _reduced("root", graded_root, (Moment.EMBEDDING_BACKWARD,), recipe),
        ]
    return lines


IN_8_BITS = frozenset({"layer", "layers", "first_layer", "layer_before"})
"""What can be gathered in 8 bits: embedding and head stay as they are (torchtitan float8.md, `filter_fqns`)."""


def _gathered_type(recipe: Recipe, name: str = "layer") -> str:
    eight = recipe.fp8 is not None and recipe.fp8.all_gather and name in IN_8_BITS
    return "fp8" if eight else recipe.compute


def _width(dtype: str) -> int:
    return BYTES[dtype]


def _weights(name: str, elements: Int, alive: tuple[Moment, ...], recipe: Recipe) -> Line:
    return _line(f"gathered.{name}", Category.WEIGHTS, elements, _gathered_type(recipe, name), alive)


def _flat(name: str, elements: Int, alive: tuple[Moment, ...], recipe: Recipe) -> Line:
    line = _line(f"all_gather.{name}", Category.COMMUNICATION, elements, _gathered_type(recipe, name), alive)
    return replace(line, stream=Stream.GATHER)


def _gradient(name: str, elements: Int, alive: tuple[Moment, ...], recipe: Recipe) -> Line:
    return _line(f"gradient.{name}", Category.GRADIENTS, elements, recipe.compute, alive)


def _reduced(name: str, elements: Int, alive: tuple[Moment, ...], recipe: Recipe) -> Line:
    return _line(f"reduce_scatter.{name}", Category.COMMUNICATION, elements, recipe.reduce, alive)


def _line(name: str, category: Category, elements: Int, dtype: str, alive: tuple[Moment, ...]) -> Line:
    return Line(Tensor(name, category, (elements,), dtype, ("tensor", "pipeline"), SOURCE), 1, alive)


def _counted(line: Line, count: Int) -> Line:
    return Line(line.tensor, count, line.alive)
