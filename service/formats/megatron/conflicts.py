"""Flags that exclude each other, which only the flags show: a job has one word for what two of them ask for.

Rules: NVIDIA/Megatron-LM @ d98e8a64, megatron/training/arguments.py (validate_args).
"""

from collections.abc import Sequence

from service.formats.draft import Draft
from service.formats.megatron.flags import Flags


def read_conflicts(flags: Flags, draft: Draft) -> None:
    """Refuses combinations that Megatron refuses at its start."""
    _torch_fsdp(flags, draft)
    _eight_bits(flags, draft)
    if flags.on("group_query_attention") and flags.on("multi_latent_attention"):
        message = "--group-query-attention and --multi-latent-attention exclude each other"
        fields = ["/model/num_key_value_heads", "/model/kv_lora_rank"]
        draft.note("flag_conflict", "error", message, fields=fields, rule="latent attention has no groups")


def _torch_fsdp(flags: Flags, draft: Draft) -> None:
    """M20. The fields are those of the general warning about it, which is said once."""
    if not flags.on("use_torch_fsdp2"):
        return
    # A model that stands in another file may say there what is absent here.
    tied = draft.get("/model/tie_word_embeddings") is True and draft.get("/model/hidden_size") is not None
    for pointer, broken, need, fix in (
        ("/parallelism/pipeline", _above_one(draft, "pipeline"), "one pipeline stage",
         "--pipeline-model-parallel-size 1"),
        ("/parallelism/expert", _above_one(draft, "expert"), "no expert parallelism", "--expert-model-parallel-size 1"),
        ("/model/tie_word_embeddings", tied, "untied embeddings",
         "--untie-embeddings-and-output-weights"),
        ("/precision/compute", draft.get("/precision/compute") == "fp16", "no fp16", "--bf16"),
        ("/sharding/overlap_param_gather", flags.on("use_distributed_optimizer"), "no distributed optimizer",
         "remove --use-distributed-optimizer"),
    ):  # fmt: skip
        if broken:
            message = f"weights sharded by torch FSDP2 need {need}"
            fields = ["/sharding/stage", pointer]
            draft.note("fsdp_excludes", "error", message, fields=fields, rule=message, fixes=[fix])


def _above_one(draft: Draft, degree: str) -> bool:
    value = draft.get(f"/parallelism/{degree}")
    return isinstance(value, int) and value > 1


def _eight_bits(flags: Flags, draft: Draft) -> None:
    """M21: 8-bit weights need 8-bit training, and one narrow type excludes the other."""
    narrow = [kind for kind in ("fp8", "fp4") if f"{kind}_format" in flags]
    if len(narrow) > 1:
        _refuse(draft, "--fp8-format and --fp4-format exclude each other", ["remove --fp4-format"])
    for kind, name in (("fp8", "8-bit"), ("fp4", "4-bit")):
        stated = kind in narrow or (kind == "fp8" and (flags.on("fp8_hybrid") or flags.on("fp8_e4m3")))
        if flags.on(f"{kind}_param_gather") and not stated:
            fixes = [f"--{kind}-format {'hybrid' if kind == 'fp8' else 'e2m1'}", f"remove --{kind}-param-gather"]
            _refuse(draft, f"--{kind}-param-gather needs {name} training, --{kind}-format", fixes)


def _refuse(draft: Draft, message: str, fixes: Sequence[str]) -> None:
    draft.note("precision_conflict", "error", message, fields=["/precision/fp8"], rule=message, fixes=fixes)
