"""torchtitan's batch numbers and lengths: sequences in TOML files, token slots since 2026.

Rules: pytorch/torchtitan @ 238fa995, torchtitan/train.py; @ b5bcd76c, torchtitan/trainer.py.
"""

from service.formats.config.settings import Settings
from service.formats.draft import Draft
from service.formats.torchtitan.layout import Degrees, positive, spelled


def read_batch(settings: Settings, draft: Draft, degrees: Degrees) -> None:
    """TOML files: sequences for each data rank, cut into micro-batches when there is a pipeline; T3, T5, T6."""
    length = settings.put_tokens("/batch/sequence_length", "training.seq_len")
    draft.fill("/batch/sequence_length", 2048, "default", "torchtitan: training.seq_len 2048")
    length = length or draft.get("/batch/sequence_length")
    local_keys = ("training.local_batch_size", "training.batch_size")
    local = settings.integer(*local_keys, pointer="/batch/micro")
    if local is None and not draft.is_open("/batch/micro"):
        draft.fill("/batch/micro", 8, "default", "torchtitan: training.local_batch_size 8")
        local = 8
    if local is None or local < 1:
        return
    micro = _micro(settings, draft, degrees, local, local_keys)
    _global(settings, draft, degrees, local, micro)
    _length(draft, length, degrees.tensor * 2 * degrees.context, "before 2026: tensor x 2 x context", degrees)


def _micro(settings: Settings, draft: Draft, degrees: Degrees, local: int, keys: tuple[str, ...]) -> int:
    origin = settings.origin if settings.find(*keys) else "default"
    if degrees.pipeline == 1:
        draft.set("/batch/micro", local, origin, settings.where(*keys))
        return local
    cut_keys = spelled("pipeline_parallel_microbatch_size")
    cut = settings.integer(*cut_keys, pointer="/batch/micro")
    where = settings.where(*cut_keys) if cut is not None else "torchtitan: pipeline_parallel_microbatch_size 1"
    cut = cut or 1
    draft.set("/batch/micro", cut, settings.origin if settings.find(*cut_keys) else "default", where)
    if local % cut:
        message = f"{settings.where(*keys)} {local} is no multiple of the pipeline's micro-batch {cut}"
        rule = "the local batch is a multiple of the pipeline's micro-batch"
        draft.note("batch_triad", "error", message, fields=["/batch/micro"], found=f"{local}, {cut}", rule=rule)
    stages = degrees.pipeline * positive(draft.get("/parallelism/virtual_pipeline"))
    _enough(draft, local // cut, stages)
    return cut


def _enough(draft: Draft, count: int, stages: int) -> None:
    """T6: fewer micro-batches than stages leave the pipeline with a bubble, or stuck."""
    if count < stages:
        message = f"{count} micro-batches for {stages} stages: the pipeline runs with a bubble, or not at all"
        fields = ["/batch/micro", "/parallelism/pipeline"]
        rule = "at least as many micro-batches as stages"
        draft.note("micro_batches_too_few", "warning", message, fields=fields, found=str(count), rule=rule)


def _global(settings: Settings, draft: Draft, degrees: Degrees, local: int, micro: int) -> None:
    key = "training.global_batch_size"
    total = settings.integer(key, pointer="/batch/global")
    data = degrees.data
    if total is None or total < 1:
        if data is not None:
            draft.fill("/batch/global", local * data, "default", "torchtitan: local batch x data ranks")
        elif degrees.pipeline > 1:
            draft.fill("/batch/accumulation", max(local // micro, 1), "derived", "local batch / micro-batch")
        return
    draft.set("/batch/global", total, settings.origin, settings.where(key))
    if data is not None and total % (local * data):
        step = local * data
        message = f"{settings.where(key)} {total} is no multiple of local batch {local} x data ranks {data} = {step}"
        rule = "the global batch is a multiple of the local batch x data ranks"
        fields = ["/batch/global", "/batch/micro", "/parallelism/data"]
        nearest = [each for each in (total // step * step, (total // step + 1) * step) if each]
        fixes = [f"{key}: {each}" for each in nearest]
        draft.note("batch_triad", "error", message, fields=fields, found=str(total), rule=rule, fixes=fixes)


def _length(draft: Draft, length: object, divisor: int, rule: str, degrees: Degrees) -> None:
    """T3; a message says which generation's rule it is, with the nearest lengths that fit."""
    if not isinstance(length, int) or length < 1 or length % divisor == 0:
        return
    below = length // divisor * divisor
    message = (
        f"sequence length {length} must be a multiple of {divisor} (tensor {degrees.tensor}, "
        f"context {degrees.context}; torchtitan's rule {rule})"
    )
    fields = ["/batch/sequence_length", "/parallelism/tensor", "/parallelism/context"]
    fixes = [f"training.seq_len: {each}" for each in (below, below + divisor) if each]
    draft.note("seq_divisor", "error", message, fields=fields, found=str(length), rule=rule, fixes=fixes)


def read_tokens(settings: Settings, draft: Draft, degrees: Degrees) -> None:
    """The generation of 2026: token slots of a micro-batch and of a step, and the longest context; T3 and T5."""
    context = settings.put_tokens("/batch/sequence_length", "training.max_context_length")
    draft.fill("/batch/sequence_length", 2048, "default", "torchtitan: training.max_context_length 2048")
    context = context or draft.get("/batch/sequence_length")
    key = "training.num_tokens_per_microbatch_per_dp_rank"
    tokens = settings.integer(key, pointer="/batch/micro")
    stated = tokens is not None
    if tokens is None and not draft.is_open("/batch/micro"):
        tokens = 16384
    if not isinstance(context, int) or tokens is None or min(context, tokens) < 1:
        return
    where = settings.where(key) if stated else f"torchtitan: {key} 16384"
    length = context if tokens % context == 0 else tokens
    if length != context:
        message = (
            f"{where} {tokens} is no multiple of the context {context}: one packed row of {tokens} tokens is planned"
        )
        draft.note(
            "packed_tokens", "info", message, fields=["/batch/micro", "/batch/sequence_length"], found=str(tokens)
        )
        draft.set("/batch/sequence_length", tokens, "derived", where)
    draft.set("/batch/micro", tokens // length, "derived", f"{where} / {length} tokens")
    _step(settings, draft, degrees, tokens, length)
    shards = degrees.tensor if draft.get("/parallelism/sequence") else 1
    divisor = shards * (2 * degrees.context if degrees.context > 1 else 1)
    _length(draft, tokens, divisor, "since 2026: tensor with sequence parallelism, 2 x context above 1", degrees)


def _step(settings: Settings, draft: Draft, degrees: Degrees, tokens: int, length: int) -> None:
    key = "training.num_tokens_per_train_step"
    total = settings.integer(key, pointer="/batch/global")
    cuts = settings.integer("parallelism.num_pp_microbatches") or 1 if degrees.pipeline > 1 else 1
    data = degrees.data
    if degrees.pipeline > 1:
        _enough(draft, cuts, degrees.pipeline * positive(draft.get("/parallelism/virtual_pipeline")))
    if total is None or total < 1:
        if data is None:
            draft.fill("/batch/accumulation", cuts, "default", "torchtitan: the micro-batches of one pipeline pass")
        else:
            rule = "torchtitan: micro-batch x pipeline micro-batches x data ranks"
            draft.fill("/batch/global", tokens // length * cuts * data, "default", rule)
        return
    draft.set("/batch/global", max(total // length, 1), "derived", f"{settings.where(key)} / {length} tokens")
    if data is not None and total % (tokens * cuts * data):
        step = tokens * cuts * data
        message = (
            f"{settings.where(key)} {total} is no multiple of {tokens} tokens x {cuts} micro-batches x {data} ranks"
        )
        nearest = [each for each in (total // step * step, (total // step + 1) * step) if each]
        fixes = [f"{key}: {each}" for each in nearest]
        fields = ["/batch/global", "/batch/micro", "/parallelism/data"]
        draft.note("batch_triad", "error", message, fields=fields, found=str(total), fixes=fixes)
