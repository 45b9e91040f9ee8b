"""How torchtitan cuts a model into stages: virtual stages of each rank, and the layers of each.

Rules: pytorch/torchtitan @ 238fa995, torchtitan/distributed/pipeline_parallel.py (pipeline_llm,
generate_llm_fqn_per_model_part).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from service.calculator import limits
from service.formats.config.settings import Settings
from service.formats.draft import Draft

SCHEDULES: Mapping[str, str] = {
    "1f1b": "1f1b",
    "gpipe": "gpipe",
    "interleaved1f1b": "interleaved",
    "interleavedzerobubble": "interleaved_zb",
    "loopedbfs": "looped_bfs",
    "zbvzerobubble": "zbv",
    "dualpipev": "dualpipev",
}
_SINGLE = frozenset({"1f1b", "gpipe"})
# The second chunk of a rank mirrors the first.
_FOLDED = frozenset({"zbv", "dualpipev"})
_SCHEDULE = "parallelism.pipeline_parallel_schedule"
_PER_STAGE = "parallelism.pipeline_parallel_layers_per_stage"
_LAYER = re.compile(r"layers\.\d+")


def read_pipeline(settings: Settings, draft: Draft) -> None:
    """Writes schedule, chunks and layers of each stage; T7."""
    ranks = draft.get("/parallelism/pipeline")
    named = settings.text(_SCHEDULE, pointer="/schedule")
    if not isinstance(ranks, int) or ranks <= 1:
        draft.fill("/parallelism/virtual_pipeline", 1, "default", "torchtitan: no pipeline")
        if named is not None and named.lower() not in _SINGLE:
            message = f"{settings.where(_SCHEDULE)}: {named} is ignored while the pipeline degree is 1"
            draft.note("schedule_without_pp", "info", message, fields=["/schedule"], found=named)
        return
    schedule = settings.put_choice("/schedule", SCHEDULES, _SCHEDULE)
    draft.fill("/schedule", "1f1b", "default", "torchtitan: pipeline_parallel_schedule 1F1B")
    schedule = schedule or draft.get("/schedule")
    listed = settings.raw("parallelism.module_fqns_per_model_part")
    if isinstance(listed, list) and listed:
        _listed(settings, listed, ranks, draft)
        return
    chunks = _chunks(settings, schedule, ranks, draft)
    if chunks is not None:
        _split(settings, schedule, ranks, chunks, draft)


def _ends(settings: Settings) -> tuple[int, int]:
    """How many layers the first and the last stage have fewer, for the embedding and the head."""
    first = settings.integer("parallelism.pipeline_parallel_first_stage_less_layers")
    last = settings.integer("parallelism.pipeline_parallel_last_stage_less_layers")
    return 1 if first is None else first, 1 if last is None else last


def _chunks(settings: Settings, schedule: str, ranks: int, draft: Draft) -> int | None:
    """Model chunks on each rank: stated by the layers of a stage, else one, or two for looped schedules."""
    pointer = "/parallelism/virtual_pipeline"
    size, layers = settings.integer(_PER_STAGE, pointer=pointer), draft.get("/model/num_hidden_layers")
    if size is None:
        chunks = 1 if schedule in _SINGLE else 2
        draft.set(pointer, chunks, "default", f"torchtitan: {chunks} stage{'s' * (chunks > 1)} on each rank")
        return chunks
    if not isinstance(layers, int) or size < 1:
        return None
    stages = -(-(layers + sum(_ends(settings))) // size)
    if stages % ranks:
        stated = f"{settings.where(_PER_STAGE)} {size}"
        message = f"{stated} makes {stages} stages of {layers} layers, no multiple of {ranks} ranks"
        _refuse(draft, "vpp_remainder", message, str(stages), "virtual stages are a multiple of the pipeline degree")
        return None
    chunks = stages // ranks
    if (schedule in _SINGLE) != (chunks == 1):
        needs = "exactly one stage" if schedule in _SINGLE else "at least two stages"
        message = f"{schedule} needs {needs} on each rank, {settings.where(_PER_STAGE)} {size} makes {chunks}"
        _refuse(draft, "schedule_conflict", message, str(chunks), f"{schedule}: {needs} on each rank")
    draft.set(pointer, chunks, "derived", f"{settings.where(_PER_STAGE)}: {stages} stages / {ranks} ranks")
    return chunks


def _refuse(draft: Draft, code: str, message: str, found: str, rule: str) -> None:
    fields = ["/parallelism/virtual_pipeline", "/model/num_hidden_layers", "/parallelism/pipeline"]
    draft.note(code, "error", message, fields=fields, found=found, rule=rule)


def _split(settings: Settings, schedule: str, ranks: int, chunks: int, draft: Draft) -> None:
    """Layers and the weights of both ends are shared evenly; stages in front take what is left over."""
    layers = draft.get("/model/num_hidden_layers")
    stages = ranks * chunks
    first, last = _ends(settings)
    if not isinstance(layers, int) or not 0 < layers <= limits.LAYERS or not 0 <= max(first, last) <= limits.LAYERS:
        return
    share, extra = divmod(layers + first + last, stages)
    if share < max(first, last, 1):
        message = f"{layers} layers and {first + last} for both ends are too few for {stages} stages"
        _refuse(
            draft, "layers_not_divisible", message, str(layers), "every stage gets a layer, and both ends their share"
        )
        return
    sizes = [share + (index < extra) for index in range(stages)]
    sizes[0] -= first
    sizes[-1] -= last
    draft.set("/stages/layers", _by_rank(sizes, ranks, schedule), "derived", "torchtitan: layers of each stage")


def _by_rank(sizes: Sequence[int], ranks: int, schedule: str) -> list[int]:
    """Stages in the order of the model, put in the order of ranks, each with its chunks."""
    rows = [sizes[start : start + ranks] for start in range(0, len(sizes), ranks)]
    if schedule in _FOLDED:
        rows = [row if index % 2 == 0 else row[::-1] for index, row in enumerate(rows)]
    return [row[rank] for rank in range(ranks) for row in rows]


def _listed(settings: Settings, parts: list[Any], ranks: int, draft: Draft) -> None:
    """Stages whose modules are listed one by one."""
    key = "parallelism.module_fqns_per_model_part"
    sizes = [sum(bool(_LAYER.fullmatch(str(each))) for each in part) for part in parts if isinstance(part, list)]
    if len(sizes) % ranks or len(sizes) > limits.LAYERS:
        message = f"{settings.where(key)} lists {len(sizes)} parts, no multiple of {ranks} ranks"
        _refuse(draft, "vpp_remainder", message, str(len(sizes)), "the parts are a multiple of the pipeline degree")
        return
    schedule = draft.get("/schedule") or "1f1b"
    draft.set("/parallelism/virtual_pipeline", len(sizes) // ranks, "derived", settings.where(key))
    draft.set("/stages/layers", _by_rank(sizes, ranks, schedule), settings.origin, settings.where(key))
