"""The numbers of a job under the names that the rules use, and where each stands in the job."""

from collections.abc import Iterable, Mapping
from math import gcd
from types import MappingProxyType

from service.calculator.validity import DIRECTIONS, Facts
from service.job.schema import Job, ModelSection, StagesSection

POINTERS: Mapping[str, str] = MappingProxyType(
    {
        "world_size": "/world_size",
        "tensor": "/parallelism/tensor",
        "sequence": "/parallelism/sequence",
        "pipeline": "/parallelism/pipeline",
        "virtual": "/parallelism/virtual_pipeline",
        "context": "/parallelism/context",
        "expert": "/parallelism/expert",
        "expert_tensor": "/parallelism/expert_tensor",
        "data": "/parallelism/data",
        "interleaved": "/schedule",
        "directions": "/schedule",
        "group": "/parallelism/microbatch_group_size",
        "micro": "/batch/micro",
        "global_batch": "/batch/global",
        "accumulation": "/batch/accumulation",
        "sequence_length": "/batch/sequence_length",
        "sharding_stage": "/sharding/stage",
        "shards": "/sharding/degree",
        "layers": "/model/num_hidden_layers",
        "hidden": "/model/hidden_size",
        "heads": "/model/num_attention_heads",
        "kv_heads": "/model/num_key_value_heads",
        "linear_heads": "/model/linear_num_key_heads",
        "experts": "/model/num_experts",
        "max_positions": "/model/max_position_embeddings",
        "extra_layers": "/stages",
        "first": "/stages/first",
        "last": "/stages/last",
    }
)
"""JSON Pointer of each fact in the canonical job."""

SPLITS = ("extra_layers", "first", "last")
"""Facts about how layers are split, which are 0 when the job does not ask for anything but an even split."""


def stated_facts(job: Job) -> Facts:
    """The facts that a job states; null is unknown, and an absent split is an even one."""
    parallel, batch, model = job.parallelism, job.batch, job.model
    extra, first, last = _split(job.stages)
    return Facts(
        world_size=job.world_size,
        tensor=parallel.tensor,
        sequence=None if parallel.sequence is None else int(parallel.sequence),
        pipeline=parallel.pipeline,
        virtual=parallel.virtual_pipeline,
        context=parallel.context,
        expert=parallel.expert,
        expert_tensor=parallel.expert_tensor,
        data=parallel.data,
        interleaved=_interleaved(job),
        directions=None if job.schedule is None else DIRECTIONS.get(job.schedule, 0),
        group=parallel.microbatch_group_size,
        micro=batch.micro,
        global_batch=batch.global_,
        accumulation=batch.accumulation,
        sequence_length=batch.sequence_length,
        sharding_stage=job.sharding.stage,
        shards=job.sharding.degree,
        layers=model.num_hidden_layers,
        hidden=model.hidden_size,
        heads=model.num_attention_heads,
        kv_heads=None if model.kv_lora_rank else model.num_key_value_heads,
        linear_heads=_linear_heads(model),
        experts=_experts(model),
        max_positions=_positions(model),
        extra_layers=extra,
        first=first,
        last=last,
    )


def pointers(names: Iterable[str], facts: Facts) -> tuple[str, ...]:
    """Where the named facts stand; a split that was not asked for is left out."""
    return tuple(POINTERS[name] for name in names if name not in SPLITS or getattr(facts, name))


def _experts(model: ModelSection) -> int | None:
    """A model whose dimensions are known and that names no experts has none."""
    if model.num_experts is not None or model.hidden_size is None:
        return model.num_experts
    return 0


def _linear_heads(model: ModelSection) -> int | None:
    """What divides key and value heads of linear attention; 0 for a model whose dimensions are known without any."""
    if model.linear_num_value_heads is not None:
        return gcd(model.linear_num_value_heads, model.linear_num_key_heads or model.linear_num_value_heads)
    return None if model.hidden_size is None else 0


def stated_positions(job: Job) -> int | None:
    """The longest sequence (tokens) that the job's framework allows by what the job says; None where it does not."""
    return _positions(job.model) if job.framework.name == "megatron-core" else None


def _positions(model: ModelSection) -> int | None:
    """The number of positions, where it binds the training sequence.

    Megatron compares its own flag, so a stated number binds. A preset's number says what the published model was
    trained for: it binds only where it is the size of a table.
    """
    if model.preset is not None and model.position_embedding != "learned":
        return None
    return model.max_position_embeddings


def _interleaved(job: Job) -> int | None:
    """Whether chunks of a rank take turns; without a stated schedule, several chunks do."""
    chunks = job.parallelism.virtual_pipeline
    if chunks is None:
        return None
    return int(chunks > 1 and job.schedule in {None, "interleaved"})


def _split(stages: StagesSection | None) -> tuple[int | None, int | None, int | None]:
    """Layers counted on top, fixed on the first and on the last rank; unknown where counts are listed one by one."""
    if stages is None:
        return 0, 0, 0
    if stages.layers is not None or stages.layout is not None:
        return None, None, None
    extra = int(bool(stages.account_for_embedding)) + int(bool(stages.account_for_loss))
    return extra, stages.first or 0, stages.last or 0
