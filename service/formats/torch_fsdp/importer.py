"""Flags of the script to the job, and what the script implies.

Source: aws-samples/awsome-distributed-training @ 7217859f, 3.test_cases/pytorch/FSDP/src (arguments.py, train.py).
"""

from collections.abc import Mapping

from service.formats import clues
from service.formats.draft import Draft
from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.formats.syntax.argv import Argument, normalized, parse_arguments
from service.formats.syntax.launch import count_processes, split_launch
from service.formats.syntax.quoting import split_words
from service.formats.syntax.values import ValueFault, boolean, integer
from service.formats.syntax.words import Holes, Word

_WHERE = "the script's default"
_MARKS = frozenset({
    "max_context_width", "hidden_width", "num_heads", "sharding_strategy", "train_batch_size", "offload_activations",
})  # fmt: skip
# One of these names alone is also anybody else's.
_CONFIDENCE = (0.0, 0.1, 0.8, 0.92, 0.96)
# Flag, pointer, and the script's default where it has a meaning of its own.
_COUNTS = (
    ("hidden_width", "/model/hidden_size", 768),
    ("num_layers", "/model/num_hidden_layers", 12),
    ("num_heads", "/model/num_attention_heads", 12),
    ("num_key_value_heads", "/model/num_key_value_heads", None),
    ("max_context_width", "/batch/sequence_length", 2048),
    ("train_batch_size", "/batch/micro", 2),
    ("vocab_size", "/model/vocab_size", None),
)
_TYPES = {"llama_v2": "llama", "llama_v3": "llama", "mixtral": "mixtral", "mistral": "mistral", "gpt_neox": "gpt_neox"}
_KNOWN = frozenset({
    "activation_checkpointing", "activation_loading_horizon", "attn_pdrop", "beta1", "beta2", "bf16", "checkpoint_dir",
    "checkpoint_freq", "cpu_offload", "dataset", "dataset_config_name", "embd_pdrop", "epochs", "grad_clip",
    "initializer_range", "intermediate_size", "limit_all_gathers", "logging_freq", "lr", "lr_decay_iters",
    "lr_decay_style", "max_steps", "max_training_steps", "min_lr", "model_type", "plateau", "resid_pdrop",
    "resume_from_checkpoint", "rotary_emb_base", "rotary_pct", "same_seed", "seed", "summary_first_pdrop",
    "tensorboard_dir", "tokenizer", "train_split", "val_batch_size", "val_split", "validation_batches",
    "validation_freq", "warmup", "weight_decay", *(flag for flag, _, _ in _COUNTS), *_MARKS,
})  # fmt: skip


def recognise(source: ConfigSource) -> float:
    """How sure it is that the arguments are the script's: by the flags that nobody else has."""
    return clues.graded(len({normalized(each) for each in clues.flags(source)} & _MARKS), _CONFIDENCE)


def read(source: ConfigSource, confidence: float) -> Imported:
    """The job that the flags describe."""
    draft = Draft("torch_fsdp", confidence)
    draft.complete(source.model, source.world_size)
    holes = Holes()
    words = [Word(each.replace("\x00", ""), "argv") for each in _words(source)]
    launch = split_launch(words, holes, _KNOWN.__contains__)
    parsed = parse_arguments(launch.arguments or words, holes, lambda _key: "one")
    flags = {each.key: each for each in parsed.arguments}
    processes = count_processes(launch, {}, lambda _name: None, holes)
    draft.set("/world_size", processes.size, "derived", processes.where)
    _model(flags, draft)
    _recipe(flags, draft)
    draft.lack(
        "vocab_size", "the vocabulary is the tokenizer's, which is not read; pass model.vocab_size", "/model/vocab_size"
    )
    draft.lack("world_size", "the flags do not say how many processes run; pass world_size", "/world_size")
    world, micro = draft.get("/world_size"), draft.get("/batch/micro")
    if isinstance(world, int) and isinstance(micro, int):
        draft.fill("/batch/global", world * micro, "derived", "one micro-batch on every process")
    draft.unknown([each for each in flags if each not in _KNOWN], sorted(_KNOWN))
    return draft.finish()


def _words(source: ConfigSource) -> list[str]:
    if source.text and source.text.strip():
        try:
            return split_words(source.text)
        except ValueError:
            return source.text.split()
    return list(source.argv)


def _model(flags: Mapping[str, Argument], draft: Draft) -> None:
    named = flags["model_type"].text if "model_type" in flags else "gpt_neox"
    kind = next((type_ for mark, type_ in _TYPES.items() if mark in named), None)
    if kind is None:
        message = f"the script knows no model type {named}"
        draft.note("value_type", "error", message, fields=["/model/model_type"], found=named, rule=", ".join(_TYPES))
    draft.set("/model/model_type", kind, "flag" if "model_type" in flags else "default", "--model_type")
    for flag, pointer, default in _COUNTS:
        _count(flags, draft, flag, pointer)
        draft.fill(pointer, default, "default", f"{_WHERE}: --{flag} {default}")
    hidden, heads = draft.get("/model/hidden_size"), draft.get("/model/num_attention_heads")
    if kind == "gpt_neox" and isinstance(hidden, int):
        draft.set("/model/intermediate_size", 4 * hidden, "derived", "the script: 4 x hidden_width")
    else:
        _count(flags, draft, "intermediate_size", "/model/intermediate_size")
        draft.fill("/model/intermediate_size", 11008, "default", f"{_WHERE}: --intermediate_size 11008")
    if kind == "mixtral":
        draft.set("/model/num_experts", 8, "default", "the script: 8 experts")
        draft.set("/model/num_experts_per_tok", 2, "default", "the script: 2 experts for each token")
    draft.fill("/model/num_key_value_heads", heads, "default", "as many as query heads")
    if isinstance(hidden, int) and isinstance(heads, int) and heads > 0:
        draft.fill("/model/head_dim", hidden // heads or None, "derived", "hidden_width / num_heads")
    draft.fill("/model/max_position_embeddings", draft.get("/batch/sequence_length"), "derived", "max_context_width")
    draft.fill("/model/tie_word_embeddings", False, "default", "the script: untied")
    if kind in {"llama", "mistral", "mixtral"}:
        draft.fill("/model/mlp", "swiglu", "default", "the script: SiLU with a gate")
        draft.fill("/model/normalization", "rmsnorm", "default", "the script: RMSNorm")


def _recipe(flags: Mapping[str, Argument], draft: Draft) -> None:
    draft.set("/framework/name", "fsdp1", "derived", "the script shards with torch's FSDP")
    draft.set("/framework/transformer_impl", "hf", "derived", "the script builds transformers' classes")
    for degree in ("tensor", "pipeline", "context", "expert"):
        draft.set(f"/parallelism/{degree}", 1, "default", "the script only shards data-parallel ranks")
    draft.set("/parallelism/sequence", False, "default", "the script has no tensor parallelism")
    draft.set("/sharding/stage", 3, "flag" if "sharding_strategy" in flags else "default", "--sharding_strategy")
    if "sharding_strategy" in flags and flags["sharding_strategy"].text == "hybrid":
        message = "hybrid sharding shares one copy on each node, whose size is not stated; sharding over all is taken"
        draft.note(
            "unresolved", "warning", message, fields=["/sharding/degree"], found="hybrid", fixes=["sharding.degree"]
        )
    half = _switch(flags, draft, "bf16", default=True)
    draft.set("/precision/compute", "bf16" if half else "fp32", "flag" if "bf16" in flags else "default", "--bf16")
    draft.set("/precision/parameters", "fp32", "default", "the script keeps fp32 shards")
    draft.set("/precision/reduce", "bf16" if half else "fp32", "default", "the script's mixed-precision policy")
    draft.set("/optimizer/name", "adam", "default", "the script: AdamW")
    if _switch(flags, draft, "cpu_offload", default=False):
        draft.set("/optimizer/offload", "cpu", "flag", "--cpu_offload")
        draft.set("/optimizer/parameter_offload", "cpu", "flag", "--cpu_offload")
    full = _switch(flags, draft, "activation_checkpointing", default=True)
    stated = "activation_checkpointing" in flags
    granularity = "full" if full else "none"
    draft.set("/checkpointing/granularity", granularity, "flag" if stated else "default", "--activation_checkpointing")
    if full:
        draft.set("/checkpointing/method", "uniform", "default", "the script: every layer")
        draft.set("/checkpointing/num_layers", 1, "default", "the script: every layer")
    if _switch(flags, draft, "offload_activations", default=False):
        draft.set("/checkpointing/offload", "inputs" if full else "all", "flag", "--offload_activations")


def _count(flags: Mapping[str, Argument], draft: Draft, flag: str, pointer: str) -> None:
    argument = flags.get(flag)
    if argument is None or not argument.text:
        return
    try:
        draft.set(pointer, integer(argument.text), "flag", argument.spelled)
    except ValueFault as fault:
        draft.leave_open(pointer)
        draft.note("value_type", "error", f"{argument.spelled}: {fault}", fields=[pointer], found=argument.text[:60])


def _switch(flags: Mapping[str, Argument], draft: Draft, flag: str, *, default: bool) -> bool:
    argument = flags.get(flag)
    if argument is None or not argument.text:
        return default if argument is None else True
    try:
        return boolean(argument.text)
    except ValueFault as fault:
        draft.note("value_type", "error", f"{argument.spelled}: {fault}", found=argument.text[:60])
        return default
