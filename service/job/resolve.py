"""From a job to what the calculator takes: every default filled in, every problem reported at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pydantic import ValidationError

from service.calculator.layout import Layout, Routing
from service.calculator.model import Model, Moe
from service.calculator.placement import EVEN, PATHS, PlacementError, Split, place
from service.calculator.recipe import Recipe
from service.calculator.routing import PERMILLE
from service.calculator.schedules import torch_group
from service.calculator.schedules.schedule import CHUNKS
from service.catalog.profiles import Profile, profile_of
from service.job.architecture import resolve_architecture
from service.job.checkpointing import (
    checkpointing_of,
    fill_checkpointing,
    stated_operations,
    unpriced_checkpointing,
)
from service.job.diagnostics import Diagnostic, Findings, MissingFact
from service.job.families import family_defaults
from service.job.kernels import fill_kernels, kernel_parts, unpriced_kernels
from service.job.recurrent import undescribed_layers
from service.job.schema import Job
from service.job.states import fill_eight_bits, fill_states, state_parts, unpriced_states
from service.job.validate import check
from service.job.validate.idle import idle_findings
from service.job.values import Values

SECTIONS = (
    "parallelism",
    "sharding",
    "stages",
    "batch",
    "checkpointing",
    "precision",
    "optimizer",
    "kernels",
    "dropout",
)


class InvalidJob(ValueError):
    """The job breaks a rule or lacks a fact; `findings` has all of it, not the first alone."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        facts = [each.fact for each in findings.missing]
        super().__init__(
            "; ".join([each.message for each in findings.errors] + [f"{fact} is missing" for fact in facts])
        )


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A job whose architecture and recipe are known; its layout may be open."""

    job: Job
    model: Model
    recipe: Recipe
    findings: Findings


@dataclass(frozen=True, slots=True)
class Resolved:
    """A job with nothing left open: `job` is the canonical form, every default written out."""

    job: Job
    model: Model
    layout: Layout
    recipe: Recipe
    findings: Findings


def resolve(job: Job) -> Resolved:
    """Model, layout and recipe of a complete job.

    Raises `InvalidJob` with every broken rule and missing fact.
    """
    draft = _draft(job)
    missing = [*draft.missing, *_fill_layout(draft.values, draft.profile)]
    filled = _filled(draft.values)
    problems = [*draft.problems, *check(filled), *idle_findings(job, filled)]
    findings = Findings(problems, missing, draft.values.sources)
    if findings.errors or missing or draft.model is None:
        raise InvalidJob(findings)
    try:
        layout = _layout(draft.values, draft.model, draft.profile)
    except PlacementError as error:
        unplaced = _unplaced(filled, error)
        raise InvalidJob(replace(findings, diagnostics=[*problems, unplaced])) from error
    return Resolved(filled, draft.model, layout, _recipe(draft.values, draft.profile), findings)


def _unplaced(job: Job, error: PlacementError) -> Diagnostic:
    fields, rule = ("/stages", "/parallelism/pipeline"), "every layer is on one stage, and every stage has one"
    fix = "parallelism.pipeline: 1" if job.stages is None else "stages: null"
    found = f"pipeline {job.parallelism.pipeline}, {job.model.num_hidden_layers} layers"
    return Diagnostic("layers_not_divisible", "error", str(error), fields, found, rule, (fix,))


def resolve_model(job: Job) -> ResolvedModel:
    """Model and recipe of a job whose layout is to be searched; only what a search cannot choose must be known.

    Raises `InvalidJob` with every broken rule and missing fact.
    """
    draft = _draft(job)
    missing = list(draft.missing)
    if draft.values.get("/batch/sequence_length") is None:
        missing.append(_SEQUENCE_MISSING)
    filled = _filled(draft.values)
    findings = Findings([*draft.problems, *check(filled)], missing, draft.values.sources)
    if findings.errors or missing or draft.model is None:
        raise InvalidJob(findings)
    return ResolvedModel(filled, draft.model, _recipe(draft.values, draft.profile), findings)


def _filled(values: Values) -> Job:
    """The job with what was filled in. Raises `InvalidJob` where a derived value passes the bound of its field."""
    try:
        return Job.model_validate(values.document())
    except ValidationError as error:
        problems = [
            Diagnostic("out_of_range", "error", f"{pointer} would be {each['input']}: {each['msg']}", (pointer,))
            for each in error.errors(include_url=False)
            for pointer in ["/" + "/".join(str(part) for part in each["loc"])]
        ]
        raise InvalidJob(Findings(problems, [], values.sources)) from error


def job_with_layout(job: Job, layout: Layout, split: Split | None = None) -> Job:
    """The job with a found layout written into it; `split` takes the place of its stages unless it is None."""
    checkpointing = layout.checkpointing
    full, selective = checkpointing.granularity == "full", checkpointing.granularity == "selective"
    shards, ranks = int(layout.shards), int(layout.data * layout.context)
    copies = ranks // shards if layout.sharding_stage and ranks % shards == 0 else 1
    instances = job.framework.name == "megatron-core"
    inherited = layout.expert_tensor == (layout.tensor if instances else 1)
    found: dict[str, dict[str, Any]] = {
        "parallelism": {
            "tensor": int(layout.tensor),
            "sequence": bool(layout.sequence_parallel),
            "pipeline": layout.pipeline,
            "virtual_pipeline": layout.virtual,
            "context": int(layout.context),
            "expert": int(layout.expert),
            "expert_tensor": None if inherited else int(layout.expert_tensor),
            "data": int(layout.data),
            "microbatch_group_size": int(layout.group) if layout.virtual > 1 else None,
        },
        "sharding": {
            "stage": int(layout.sharding_stage),
            "degree": None if instances or copies == 1 else shards,
            "optimizer_instances": copies if instances and copies > 1 else None,
        },
        "batch": {
            "micro": int(layout.micro_batch),
            "global": int(layout.micro_batch * layout.micro_batches * layout.data),
            "accumulation": None,
        },
        "checkpointing": {
            "granularity": checkpointing.granularity,
            "method": checkpointing.method if full else None,
            "num_layers": int(checkpointing.num_layers) if full else None,
            "modules": list(checkpointing.modules),
            "op": stated_operations(job, checkpointing.op) if selective and checkpointing.op else None,
            "every": checkpointing.every or None if selective else None,
        },
    }
    document = job.model_dump(by_alias=True, exclude_none=True)
    for section, values in found.items():
        document[section] = {**document.get(section, {}), **values}
    if split is not None:
        document["stages"] = _stages_of(split)
    document |= {"schedule": layout.schedule, "world_size": int(layout.world_size)}
    return Job.model_validate(document)


def _stages_of(split: Split) -> dict[str, Any] | None:
    """A split as a job states it; nothing where the framework divides layers in this way by itself."""
    if split.spread is not None or split == EVEN:
        return None
    stated = {each.name: getattr(split, each.name) for each in fields(split) if each.name != "spread"}
    return {name: list(value) if name == "layers" else value for name, value in stated.items() if value}


@dataclass(frozen=True, slots=True)
class _Draft:
    values: Values
    profile: Profile
    model: Model | None
    problems: list[Diagnostic]
    missing: list[MissingFact]


_SEQUENCE_MISSING = MissingFact("sequence_length", "the sequence length (tokens) is not given")


def _draft(job: Job) -> _Draft:
    """Everything that does not depend on the layout."""
    stated = job.model_dump(by_alias=True, exclude_none=True)
    values = Values()
    values.give("", {key: value for key, value in stated.items() if key != "model"})
    architecture = resolve_architecture(job.model, values)
    problems = list(architecture.diagnostics)
    profile = profile_of(job.framework.name, _implementation(job), job.framework.version)
    _fill_recipe(values, profile)
    if job.precision.fp8 is not None:
        fill_eight_bits(values, profile)
    problems += _version_notice(job, profile) + _unpriced(values, profile) + _attention_notice(values)
    problems += undescribed_layers(architecture.model, values)
    model = _as_written(_with_16_bit_ends(architecture.model, values), values)
    return _Draft(values, profile, model, problems, architecture.missing)


def _with_16_bit_ends(model: Model | None, values: Values) -> Model | None:
    ends = values.get("/precision/fp8/bf16_layers")
    return model.with_16_bit_ends(ends["first"], ends["last"]) if model and ends else model


def _as_written(model: Model | None, values: Values) -> Model | None:
    """Experts that transformers' class runs on every token, where its layers are used."""
    family = family_defaults(values.get("/model/model_type"))
    if model is None or values.get("/framework/transformer_impl") != "hf" or family is None:
        return model
    if not family.writing.every_expert:
        return model
    kinds = tuple(
        replace(kind, mlp=replace(kind.mlp, every_expert=True)) if isinstance(kind.mlp, Moe) else kind
        for kind in model.kinds
    )
    return replace(model, kinds=kinds)


def _implementation(job: Job) -> str | None:
    """What runs the layers; DeepSpeed with a tensor or pipeline degree is taken for Megatron-DeepSpeed."""
    split = {job.parallelism.tensor, job.parallelism.pipeline} - {None, 1}
    if job.framework.transformer_impl is None and job.framework.name == "deepspeed" and split:
        return "local"
    return job.framework.transformer_impl


def _version_notice(job: Job, profile: Profile) -> list[Diagnostic]:
    version = job.framework.version
    if version is None or profile.covers(version):
        return []
    message = f"{job.framework.name} {version} is estimated with the profile of {profile.version}"
    return [Diagnostic("nearest_profile", "info", message, ("/framework/version",), version)]


def _attention_notice(values: Values) -> list[Diagnostic]:
    if values.get("/kernels/attention") != "auto":
        return []
    message = (
        "the attention kernel is left to the framework: a fused one is assumed (local layers store their scores), and "
        "the interval is wider"
    )
    fixes = ("kernels.attention: flash", "kernels.attention: fused", "kernels.attention: unfused")
    return [Diagnostic("assumed", "info", message, ("/kernels/attention",), "auto", "", fixes)]


UNPRICED = {
    "/kernels/cuda_graphs": "CUDA graphs",
}


def _unpriced(values: Values, profile: Profile) -> list[Diagnostic]:
    """Refuse what changes memory and is not itemised yet, rather than leave it out silently."""
    found = [(pointer, what) for pointer, what in UNPRICED.items() if values.get(pointer) not in (None, "none", False)]
    found += [*unpriced_states(values, profile), *unpriced_kernels(values), *unpriced_checkpointing(values)]
    return [
        Diagnostic(
            "unsupported_option",
            "error",
            f"{what} is not supported yet",
            (pointer,),
            str(values.get(pointer)),
            "what cannot be itemised is refused, not left out",
            (f"{pointer.strip('/').replace('/', '.')}: null",),
        )
        for pointer, what in found
    ]


def _fill_recipe(values: Values, profile: Profile) -> None:
    """Defaults of precision, optimizer, kernels and dropout."""
    values.fill("/framework/transformer_impl", profile.transformer_impl, "default", profile.identity)
    _fill_mask(values, profile)
    fill_states(values, profile)
    fill_kernels(values, profile)


LONGEST_MASK = 32768
"""Tokens up to which a data loader is taken to make a dense mask: one of 32768 x 32768 bytes fills a GiB."""


def _fill_mask(values: Values, profile: Profile) -> None:
    sequence = values.get("/batch/sequence_length")
    if profile.attention_mask and sequence is not None and sequence > LONGEST_MASK:
        values.fill("/batch/padding_mask", value=False, origin="assumed", where="a dense mask would be too large")
    family = family_defaults(values.get("/model/model_type"))
    if values.get("/framework/transformer_impl") == "hf" and family is not None and family.writing.masked:
        where = f"transformers {family.class_name} always makes one"
        values.fill("/batch/padding_mask", value=True, origin="default", where=where)
    values.fill("/batch/padding_mask", profile.attention_mask, "default", profile.identity)


def _fill_layout(values: Values, profile: Profile) -> Sequence[MissingFact]:
    """Defaults of degrees, batch, schedule and checkpointing; returns the facts that nothing implies."""
    values.fill("/parallelism/virtual_pipeline", CHUNKS.get(values.get("/schedule")), "derived", "schedule")
    for degree in ("tensor", "pipeline", "virtual_pipeline", "context", "expert"):
        values.fill(f"/parallelism/{degree}", 1, "default", profile.identity)
    if values.get("/framework/name") == "megatron-core":
        values.fill("/parallelism/expert_tensor", values.get("/parallelism/tensor"), "default", "tensor")
    values.fill("/parallelism/expert_tensor", 1, "default", profile.identity)
    values.fill("/parallelism/sequence", False, "default", profile.identity)
    values.fill("/sharding/stage", profile.sharding_stage, "default", profile.identity)
    fill_checkpointing(values, profile)
    missing = []
    if values.get("/batch/sequence_length") is None:
        missing.append(_SEQUENCE_MISSING)
    if values.get("/batch/micro") is None:
        missing.append(MissingFact("micro", "the micro-batch size is not given"))
    if not _fill_data(values):
        missing.append(MissingFact("world_size", "neither world_size nor parallelism.data is given"))
    if not missing:
        _fill_batch(values, profile)
    _fill_schedule(values, profile)
    return missing


def _fill_data(values: Values) -> bool:
    """Derive the data-parallel degree from the world size, or the other way round."""
    grid = 1
    for degree in ("tensor", "pipeline", "context"):
        grid *= values.get(f"/parallelism/{degree}")
    world, data = values.get("/world_size"), values.get("/parallelism/data")
    if world is not None:
        values.fill("/parallelism/data", max(world // grid, 1), "derived", "world_size / (tensor · pipeline · context)")
    elif data is not None:
        values.fill("/world_size", data * grid, "derived", "tensor · pipeline · context · data")
    return values.get("/parallelism/data") is not None


def _fill_batch(values: Values, profile: Profile) -> None:
    """An absent global batch is one micro-batch on every data-parallel rank, or enough of them to fill the pipeline.

    Twice the pipeline degree fills every schedule, so a job that does not say holds as much as it ever will.
    """
    micro, data = values.get("/batch/micro"), values.get("/parallelism/data")
    accumulation, pipeline = values.get("/batch/accumulation"), values.get("/parallelism/pipeline")
    if values.get("/batch/global") is None:
        if accumulation:
            values.fill("/batch/global", micro * data * accumulation, "derived", "micro · data · accumulation")
        elif pipeline > 1:
            values.fill("/batch/global", micro * data * 2 * pipeline, "assumed", "a full pipeline: 2 · pipeline")
        else:
            values.fill("/batch/global", micro * data, "default", f"micro · data ({profile.identity})")
    values.fill(
        "/batch/accumulation",
        max(values.get("/batch/global") // (micro * data), 1),
        "derived",
        "global / (micro · data)",
    )


def _fill_schedule(values: Values, profile: Profile) -> None:
    chunks = values.get("/parallelism/virtual_pipeline")
    values.fill("/schedule", "interleaved" if chunks > 1 else "1f1b", "default", profile.identity)
    pipeline, run = values.get("/parallelism/pipeline"), values.get("/batch/accumulation")
    if values.get("/schedule") == "interleaved" and profile.habits.torch_pipelines and run:
        group = torch_group(pipeline, run)
        values.fill("/parallelism/microbatch_group_size", group, "default", "torch: m // max(1, m // p)")
    if values.get("/schedule") == "interleaved":
        values.fill("/parallelism/microbatch_group_size", pipeline, "default", "pipeline")


def _layout(values: Values, model: Model, profile: Profile) -> Layout:
    """The calculator's layout; every value is there by now. Raises `PlacementError`."""
    degrees, batch = values.section("/parallelism"), values.section("/batch")
    stage = values.get("/sharding/stage")
    pipeline, virtual = degrees["pipeline"], degrees["virtual_pipeline"]
    split = split_of(values.section("/stages"), profile, values.get("/framework/transformer_impl"))
    ranks = values.get("/sharding/degree") or (degrees["data"] * degrees["context"])
    ranks = max(ranks // (values.get("/sharding/optimizer_instances") or 1), 1)
    return Layout(
        tensor=degrees["tensor"],
        sequence_parallel=int(degrees["sequence"] and degrees["tensor"] > 1),
        context=degrees["context"],
        data=degrees["data"],
        pipeline=pipeline,
        virtual=virtual,
        schedule=values.get("/schedule"),
        group=degrees.get("microbatch_group_size") or pipeline,
        placement=place(
            model.layers,
            pipeline,
            virtual,
            split,
            model.prediction.depths if model.prediction else 0,
            PATHS.get(values.get("/schedule"), "loop"),
        ),
        micro_batch=batch["micro"],
        micro_batches=batch["accumulation"],
        sequence_length=batch["sequence_length"],
        sharding_stage=stage,
        shards=ranks if stage else 1,
        checkpointing=checkpointing_of(values),
        context_method=degrees.get("context_method") or "p2p",
        expert=degrees["expert"],
        expert_tensor=degrees["expert_tensor"],
        routing=_routing(values),
        overlap_grad_reduce=bool(values.get("/sharding/overlap_grad_reduce")),
        overlap_param_gather=bool(values.get("/sharding/overlap_param_gather")),
        overlap_expert=bool(degrees.get("overlap_expert")),
    )


def split_of(stated: Mapping[str, Any], profile: Profile, implementation: str | None) -> Split:
    """How layers are divided over stages: as stated, else as the framework does by itself."""
    given: dict[str, Any] = {
        key: tuple(value) if key == "layers" else value for key, value in stated.items() if value is not None
    }
    split = Split(**given)
    if split == EVEN and profile.spread:
        return Split(spread=(profile.spread[0], profile.spread[1]))
    if split == EVEN and profile.name != "megatron-core":
        return Split(spread=(1, 1) if implementation == "titan" else (0, 0))
    return split


def _routing(values: Values) -> Routing:
    factor = values.get("/moe/capacity_factor")
    return Routing(
        capacity_permille=None if factor is None else round(factor * PERMILLE),
        padded=bool(values.get("/moe/pad_to_capacity")),
        imbalance_permille=round((values.get("/moe/imbalance") or 1.0) * PERMILLE),
    )


def _recipe(values: Values, profile: Profile) -> Recipe:
    framework = values.get("/framework/name")
    fused = values.get("/kernels/grad_accumulation_fusion")
    return Recipe(
        profile=profile.identity,
        compute=values.get("/precision/compute"),
        # Frameworks without a buffer for accumulation have their weight gradients among the states.
        gradient_accumulation_fusion=fused or framework != "megatron-core",
        vocabulary_multiple=profile.vocabulary_multiple,
        habits=profile.habits,
        layers_ahead=profile.layers_ahead,
        buffer_alignment=profile.buffer_alignment,
        **kernel_parts(values),
        **state_parts(values, profile),
    )
