"""What single flags of Megatron mean, and what their absence means."""

from typing import Any

import pytest

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource
from service.job.schema import ModelSection
from service.usecases.imports import import_config

COMPLETE = (
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 "
    "--micro-batch-size 2 --vocab-size 50257"
)


def read(flags: str = "", *, world_size: int | None = 8, base: str = COMPLETE, **given: Any) -> Imported:
    return import_source(ConfigSource(text=f"{base} {flags}", format="megatron", world_size=world_size, **given))


def value(imported: Imported, pointer: str) -> Any:
    assert imported.job is not None
    node: Any = imported.job.model_dump(by_alias=True)
    for part in pointer.strip("/").split("/"):
        node = None if node is None else node[part]
    return node


def codes(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.diagnostics}


def missing(imported: Imported) -> set[str]:
    return {each.fact for each in imported.findings.missing}


PP4 = "--pipeline-model-parallel-size 4"
V2 = "--num-virtual-stages-per-pipeline-rank 2"
CHUNKS = "/parallelism/virtual_pipeline"
FP8 = "--bf16 --fp8-format e4m3"

DEFAULTS = {
    "/model/intermediate_size": 16384,
    "/model/num_key_value_heads": 32,
    "/model/tie_word_embeddings": True,
    "/model/normalization": "layernorm",
    "/model/mlp": "gelu",
    "/model/position_embedding": "learned",
    "/model/qkv_bias": True,
    "/model/output_bias": True,
    "/model/mlp_bias": True,
    "/model/qk_norm": "none",
    "/parallelism/tensor": 1,
    "/parallelism/pipeline": 1,
    "/parallelism/context": 1,
    "/parallelism/sequence": False,
    "/parallelism/virtual_pipeline": 1,
    "/sharding/stage": 0,
    "/batch/global": 16,
    "/checkpointing/granularity": "none",
    "/optimizer/name": "adam",
    "/kernels/attention": "auto",
    "/kernels/cross_entropy": "megatron",
    "/kernels/grad_accumulation_fusion": True,
    "/dropout/hidden": 0.1,
    "/dropout/attention": 0.1,
    "/precision/compute": "fp32",
}


@pytest.mark.parametrize(("pointer", "expected"), DEFAULTS.items())
def test_an_absent_flag_has_megatrons_meaning_and_says_so(pointer: str, expected: Any) -> None:
    imported = read()

    assert value(imported, pointer) == expected
    assert imported.findings.sources[pointer].origin == "default"
    assert imported.outcome == "ok"


@pytest.mark.parametrize(
    ("flags", "pointer", "expected"),
    [
        ("--swiglu", "/model/intermediate_size", 10880),
        ("--swiglu --ffn-hidden-size 11008", "/model/intermediate_size", 11008),
        ("--swiglu", "/model/mlp", "swiglu"),
        ("--squared-relu", "/model/mlp", "relu2"),
        ("--quick-geglu", "/model/mlp", "geglu"),
        ("--normalization RMSNorm", "/model/normalization", "rmsnorm"),
        ("--group-query-attention --num-query-groups 8", "/model/num_key_value_heads", 8),
        ("--group-query-attention", "/model/num_key_value_heads", 1),
        ("--num-query-groups 8", "/model/num_key_value_heads", 32),
        ("--kv-channels 64", "/model/head_dim", 64),
        ("--untie-embeddings-and-output-weights", "/model/tie_word_embeddings", False),
        ("--position-embedding-type rope", "/model/position_embedding", "rope"),
        ("--use-rotary-position-embeddings", "/model/position_embedding", "rope"),
        ("--no-position-embedding", "/model/position_embedding", "none"),
        ("--position-embedding-type rope --no-position-embedding", "/model/position_embedding", "rope"),
        ("--disable-bias-linear", "/model/mlp_bias", False),
        ("--disable-bias-linear --add-qkv-bias", "/model/qkv_bias", True),
        ("--qk-layernorm", "/model/qk_norm", "per_head"),
        ("--padded-vocab-size 50304", "/model/vocab_size", 50304),
        ("--num-experts 8 --moe-router-topk 4", "/model/num_experts_per_tok", 4),
        ("--num-experts 8", "/model/num_experts_per_tok", 2),
        ("--num-experts 8", "/model/moe_intermediate_size", 16384),
        ("--num-experts 8 --moe-ffn-hidden-size 1024", "/model/moe_intermediate_size", 1024),
        ("--num-experts 8 --moe-layer-freq '([0]*2+[1]*30)'", "/model/moe_layer_pattern", [0] * 2 + [1] * 30),
        ("--num-experts 8 --moe-layer-freq 2", "/model/moe_layer_pattern", [1, 0] * 16),
        ("--num-experts 8 --moe-expert-capacity-factor 1.5", "/moe/capacity_factor", 1.5),
        ("--num-experts 8 --moe-pad-expert-input-to-capacity", "/moe/pad_to_capacity", True),
        ("--num-experts 8 --moe-token-dispatcher-type flex", "/kernels/moe_dispatcher", "deepep"),
        ("--num-experts 8 --moe-grouped-gemm", "/kernels/grouped_gemm", True),
        ("--window-size (4095,0)", "/model/sliding_window", None),
        ("--window-size '(4095,0)'", "/model/sliding_window", 4095),
        ("--cpu-offloading-num-layers 4", "/checkpointing/offload_layers", 4),
        ("--fine-grained-activation-offloading --offload-modules moe_act", "/checkpointing/offload", ["moe_act"]),
        ("--moe-layer-recompute", "/checkpointing/modules", ["moe"]),
        ("--cuda-graph-impl local", "/kernels/cuda_graphs", True),
        ("--bf16 --fp4-format e2m1", "/precision/fp8/recipe", "nvfp4"),
        ("--use-torch-fsdp2 --torch-fsdp2-no-reshard-after-forward", "/sharding/reshard_after_forward", "never"),
        ("--num-experts 8 --tensor-model-parallel-size 2", "/parallelism/expert_tensor", 2),
        ("--multi-latent-attention", "/model/kv_lora_rank", 32),
        ("--multi-latent-attention --q-lora-rank 1536", "/model/q_lora_rank", 1536),
        ("--mtp-num-layers 1", "/model/num_nextn_predict_layers", 1),
        ("--tensor-model-parallel 2", "/parallelism/tensor", 2),
        ("--model-parallel-size 2", "/parallelism/tensor", 2),
        (f"{PP4} --num-layers-per-virtual-pipeline-stage 2", CHUNKS, 4),
        (f"{PP4} --num-virtual-stages-per-pipeline-rank 2", CHUNKS, 2),
        (f"{PP4} --pipeline-model-parallel-layout 'Et*4|(t*4|)*6t*4L'", CHUNKS, 2),
        ("--pipeline-model-parallel-layout 'Et*32L'", "/stages/layout", "Et*32L"),
        ("--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 7", "/stages/first", 7),
        ("--account-for-embedding-in-pipeline-split", "/stages/account_for_embedding", True),
        ("--microbatch-group-size-per-virtual-pipeline-stage 4", "/parallelism/microbatch_group_size", 4),
        ("--context-parallel-size 2 --cp-comm-type a2a", "/parallelism/context_method", "a2a"),
        ("--use-distributed-optimizer", "/sharding/stage", 1),
        ("--use-megatron-fsdp", "/sharding/stage", 3),
        ("--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads", "/sharding/stage", 2),
        ("--use-torch-fsdp2", "/sharding/stage", 3),
        ("--num-distributed-optimizer-instances 2", "/sharding/optimizer_instances", 2),
        ("--bf16", "/precision/gradients", "fp32"),
        ("--bf16 --grad-reduce-in-bf16", "/precision/gradients", "bf16"),
        ("--fp16", "/precision/gradients", "fp16"),
        ("--fp16 --accumulate-allreduce-grads-in-fp32", "/precision/gradients", "fp32"),
        ("--bf16 --use-precision-aware-optimizer --main-grads-dtype bf16", "/precision/gradients", "bf16"),
        ("--bf16 --use-precision-aware-optimizer --exp-avg-dtype bf16", "/optimizer/moments", ["bf16", "fp32"]),
        ("--bf16 --use-precision-aware-optimizer", "/precision/master", "bf16_remainder"),
        ("--bf16 --fp8-format hybrid --fp8-recipe blockwise", "/precision/fp8/recipe", "blockwise"),
        ("--bf16 --fp8-format e4m3 --fp8-recipe tensorwise --fp8-param-gather", "/precision/fp8/parameters", True),
        (f"{FP8} --first-last-layers-bf16 --num-layers-at-start-in-bf16 3", "/precision/fp8/bf16_layers/first", 3),
        ("--optimizer sgd", "/optimizer/momentum", True),
        ("--optimizer-cpu-offload --optimizer-offload-fraction 0.5", "/optimizer/offload", {"fraction": 0.5}),
        ("--optimizer-cpu-offload", "/optimizer/offload", "cpu"),
        ("--recompute-activations", "/checkpointing/granularity", "selective"),
        ("--recompute-activations", "/checkpointing/modules", ["core_attn"]),
        ("--recompute-granularity selective --recompute-modules mlp moe", "/checkpointing/modules", ["mlp", "moe"]),
        ("--recompute-granularity full --recompute-num-layers 4", "/checkpointing/num_layers", 4),
        ("--checkpoint-activations", "/checkpointing/method", "uniform"),
        ("--activations-checkpoint-method uniform", "/checkpointing/granularity", "full"),
        ("--distribute-saved-activations", "/checkpointing/distribute_saved", True),
        ("--use-flash-attn", "/kernels/attention", "flash"),
        ("--use-flash-attn --attention-backend fused", "/kernels/attention", "fused"),
        ("--transformer-impl local", "/kernels/attention", "unfused"),
        ("--cross-entropy-loss-fusion", "/kernels/cross_entropy", "megatron_fused"),
        ("--cross-entropy-loss-fusion --cross-entropy-fusion-impl te", "/kernels/cross_entropy", "te"),
        ("--no-gradient-accumulation-fusion", "/kernels/grad_accumulation_fusion", False),
        ("--disable-bias-linear", "/kernels/activation", "eager"),
        ("--hidden-dropout 0 --attention-dropout 0.0", "/dropout/hidden", 0.0),
        ("--tp-comm-overlap", "/parallelism/async_tensor", True),
        ("--defer-embedding-wgrad-compute --wgrad-deferral-limit 22", "/kernels/defer_embedding_wgrad", 22),
        ("--no-create-attention-mask-in-dataloader", "/batch/padding_mask", False),
        ("--seq-length 8k --max-position-embeddings 8192", "/batch/sequence_length", 8192),
        ("--global-batch-size 5e2", "/batch/global", 500),
        ("--step-batch-size-schedule '0:16 2.4B:320'", "/batch/global", 320),
    ],
)  # fmt: skip
def test_a_flag_sets_its_field(flags: str, pointer: str, expected: Any) -> None:
    assert value(read(flags), pointer) == expected


@pytest.mark.parametrize(
    ("flags", "code", "field"),
    [
        ("--global-batch-size 16 --step-batch-size-schedule 0:16", "batch_conflict", "/batch/global"),
        ("--bf16 --fp16", "flag_conflict", "/precision/compute"),
        ("--micro-batch-size eight", "value_type", "/batch/micro"),
        ("--hidden-size 4096.5", "value_type", "/model/hidden_size"),
        ("--num-layers 99999999", "value_type", "/model/num_hidden_layers"),
        (f"{PP4} --num-layers-per-virtual-pipeline-stage 3", "vpp_remainder", CHUNKS),
        (f"--num-layers-per-virtual-pipeline-stage 2 {V2}", "flag_conflict", CHUNKS),
        ("--pipeline-model-parallel-layout 'E(t|'", "value_type", "/stages/layout"),
        ("--num-experts 8 --moe-layer-freq [1]*3", "value_type", "/model/moe_layer_pattern"),
        ("--optimizer soap", "value_type", "/optimizer/name"),
        ("--recompute-granularity partly", "value_type", "/checkpointing/granularity"),
    ],
)  # fmt: skip
def test_what_megatron_refuses_or_cannot_read_is_an_error_with_its_field(flags: str, code: str, field: str) -> None:
    imported = read(flags)

    assert imported.outcome == "invalid"
    assert field in {pointer for each in imported.findings.errors if each.code == code for pointer in each.fields}


def test_eighty_layers_over_sixteen_stages_cannot_be_cut_in_two() -> None:
    base = COMPLETE.replace("--num-layers 32", "--num-layers 80")
    imported = read("--pipeline-model-parallel-size 16 --num-layers-per-virtual-pipeline-stage 2", base=base)

    (error,) = [each for each in imported.findings.errors if each.code == "vpp_remainder"]
    assert error.message == "5 layers per stage (80 over 16 stages) cannot be cut into chunks of 2"
    assert error.fixes == (
        "--num-layers-per-virtual-pipeline-stage 1",
        "--num-layers-per-virtual-pipeline-stage 5",
    )


@pytest.mark.parametrize(
    ("flag", "fact"),
    [
        ("--num-layers 32", "num_hidden_layers"),
        ("--hidden-size 4096", "hidden_size"),
        ("--num-attention-heads 32", "num_attention_heads"),
        ("--vocab-size 50257", "vocab_size"),
        ("--seq-length 4096", "sequence_length"),
        ("--micro-batch-size 2", "micro"),
    ],
)
def test_a_required_flag_that_is_taken_away_is_a_missing_fact(flag: str, fact: str) -> None:
    imported = read(base=COMPLETE.replace(flag, ""))

    assert (imported.outcome, missing(imported)) == ("incomplete", {fact})


def test_all_problems_come_at_once() -> None:
    imported = read(
        "--bf16 --fp16 --optimizer soap --micro-batch-size x", base=COMPLETE.replace("--vocab-size 50257", "")
    )

    assert {"flag_conflict", "value_type"} <= codes(imported)
    assert missing(imported) == {"vocab_size"}


def test_the_tokenizer_is_named_when_the_vocabulary_is_missing() -> None:
    imported = read("--tokenizer-type GPT2BPETokenizer", base=COMPLETE.replace("--vocab-size 50257", ""))

    assert "50257" in imported.findings.missing[0].message


def test_repeated_flags_last_one_wins_with_both_values_shown() -> None:
    imported = read("--micro-batch-size 4")

    (notice,) = [each for each in imported.findings.diagnostics if each.code == "repeated_flag"]
    assert value(imported, "/batch/micro") == 4
    assert notice.found == "2, then 4"
    assert notice.severity == "warning"


def test_unknown_flags_are_listed_with_the_nearest_known_one() -> None:
    imported = read("--tensor-model-parallel-sise 4 --my-own-flag 3")

    assert imported.unknown == ("tensor_model_parallel_sise", "my_own_flag")
    (warning,) = [each for each in imported.findings.diagnostics if each.code == "unknown_keys"]
    assert warning.fixes == ("tensor_model_parallel_sise -> tensor_model_parallel_size",)
    assert imported.outcome == "ok"


def test_sequence_parallelism_at_tensor_degree_one_is_off_with_a_warning() -> None:
    imported = read("--sequence-parallel")

    assert value(imported, "/parallelism/sequence") is False
    assert "ignored_option" in codes(imported)


def test_what_the_request_gives_completes_and_overrides() -> None:
    imported = read(
        "--tensor-model-parallel-size 2",
        world_size=64,
        base=COMPLETE.replace("--vocab-size 50257", ""),
        model=ModelSection(vocab_size=128256, hidden_size=8192),
    )

    assert imported.outcome == "ok"
    assert value(imported, "/model/vocab_size") == 128256
    assert value(imported, "/model/hidden_size") == 8192
    assert value(imported, "/model/intermediate_size") == 4 * 8192
    assert imported.findings.sources["/model/hidden_size"].origin == "given"
    assert imported.findings.sources["/world_size"].origin == "given"


def test_a_preset_stands_for_the_model_and_flags_override_it() -> None:
    imported = read(
        base="--num-layers 16 --seq-length 8192 --micro-batch-size 1 --bf16", model=ModelSection(preset="llama-3-8b")
    )

    assert imported.job is not None
    assert imported.job.model.model_dump(exclude_none=True) == {"preset": "llama-3-8b", "num_hidden_layers": 16}
    assert missing(imported) == set()


SCRIPT = f"""#!/bin/bash
#SBATCH --nodes=4
NNODES=${{NNODES:-$SLURM_NNODES}}
torchrun --nnodes $NNODES --nproc_per_node 8 pretrain_gpt.py {COMPLETE} --tensor-model-parallel-size $TP --save $CKPT
"""


def test_an_unresolved_variable_is_asked_for_by_its_name() -> None:
    imported = import_source(ConfigSource(text=SCRIPT))

    assert (imported.outcome, missing(imported)) == ("incomplete", {"TP"})
    (asked,) = [each for each in imported.findings.diagnostics if each.code == "unresolved"]
    assert asked.fields == ("/parallelism/tensor",)
    assert asked.fixes == ("pass env.TP",)
    assert "TP is read from the environment and not given" in asked.message


def test_the_environment_of_the_request_resolves_it() -> None:
    imported = import_source(ConfigSource(text=SCRIPT, env={"TP": "4", "NNODES": "2"}))

    assert (imported.outcome, value(imported, "/parallelism/tensor")) == ("ok", 4)
    assert value(imported, "/world_size") == 16


def test_a_value_without_effect_may_stay_unresolved() -> None:
    imported = import_source(ConfigSource(text=SCRIPT, env={"TP": "4"}))

    assert imported.outcome == "ok"
    assert "unresolved" not in codes(imported)


def test_an_unresolved_world_size_names_both_ways_out() -> None:
    text = f"torchrun --nnodes $NNODES --nproc_per_node 8 pretrain_gpt.py {COMPLETE}"
    imported = import_source(ConfigSource(text=text))

    (fact,) = imported.findings.missing
    assert fact.fact == "world_size"
    assert fact.message == "NNODES is read from the environment and not given; pass env.NNODES or world_size"
    assert import_source(ConfigSource(text=text, env={"NNODES": "4"})).outcome == "ok"
    assert import_source(ConfigSource(text=text, world_size=32)).outcome == "ok"


def test_a_word_that_may_hold_more_flags_is_asked_for() -> None:
    text = f"torchrun --nproc_per_node 8 pretrain_gpt.py {COMPLETE} $EXTRA_ARGS"

    assert missing(import_source(ConfigSource(text=text))) == {"EXTRA_ARGS"}
    assert import_source(ConfigSource(text=text, env={"EXTRA_ARGS": "--bf16"})).outcome == "ok"


def test_an_undecided_choice_is_harmless_when_neither_side_matters() -> None:
    text = f"if [ -d ckpt ]; then LOAD='--load ckpt'; fi\ntorchrun --nproc_per_node 8 pretrain_gpt.py {COMPLETE} $LOAD"

    assert import_source(ConfigSource(text=text)).outcome == "ok"


def test_an_undecided_choice_that_matters_shows_both_alternatives() -> None:
    base = COMPLETE.replace("--hidden-size 4096", "--hidden-size $H")
    text = f'if [ "$SIZE" = 7b ]; then H=4096; else H=5120; fi\ntorchrun --nproc_per_node 8 pretrain_gpt.py {base}'
    imported = import_source(ConfigSource(text=text))

    assert missing(imported) == {"SIZE"}
    assert "4096 or 5120" in imported.findings.missing[0].message
    assert value(import_source(ConfigSource(text=text, env={"SIZE": "7b"})), "/model/hidden_size") == 4096


def test_facts_hidden_behind_one_undecided_choice_are_asked_for_once() -> None:
    rest = "--seq-length 8 --max-position-embeddings 8 --micro-batch-size 1 --vocab-size 8"
    text = (
        f'if [ "$SIZE" = 7b ]; then M="--num-layers 32 --hidden-size 4096 --num-attention-heads 32"; '
        f'else M="--num-layers 40 --hidden-size 5120 --num-attention-heads 40"; fi\n'
        f"torchrun --nproc_per_node 8 pretrain_gpt.py {rest} $M"
    )

    assert missing(import_source(ConfigSource(text=text))) == {"SIZE"}


def test_a_sourced_file_is_asked_for_when_something_is_missing_and_read_when_given() -> None:
    text = "source models/gpt.sh\ntorchrun --nproc_per_node 8 pretrain_gpt.py ${MODEL_ARGS[@]} --micro-batch-size 2"
    imported = import_source(ConfigSource(text=text))

    assert "gpt.sh" in missing(imported)
    assert "missing_file" in codes(imported)
    model = f"MODEL_ARGS=({COMPLETE.replace('--micro-batch-size 2 ', '')})"
    assert import_source(ConfigSource(text=text, files={"models/gpt.sh": model})).outcome == "ok"


def test_a_called_script_that_is_not_supplied_is_what_is_missing() -> None:
    imported = import_source(ConfigSource(text="#SBATCH -N 2\nsrun bash run_megatron.sh\n", format="megatron"))

    assert (imported.outcome, imported.job, missing(imported)) == ("incomplete", None, {"run_megatron.sh"})


def test_a_launch_under_an_undecided_condition_is_read_with_a_notice() -> None:
    text = f'if [ "$MODE" = train ]; then torchrun --nproc_per_node 8 pretrain_gpt.py {COMPLETE}; fi'
    imported = import_source(ConfigSource(text=text))

    assert imported.outcome == "ok"
    assert any("the launch depends on MODE" in each.message for each in imported.findings.diagnostics)


def test_a_file_of_variables_is_read_as_if_a_command_passed_them() -> None:
    imported = import_source(ConfigSource(text=f"MODEL_ARGS=({COMPLETE})\nOTHER=3\n", world_size=8))

    assert (imported.outcome, value(imported, "/model/hidden_size")) == ("ok", 4096)
    assert "no_launch_command" in codes(imported)


def test_an_argument_dump_is_trusted() -> None:
    dump = "\n".join(
        f"  {name} {'.' * (40 - len(name))} {text}"
        for name, text in {
            "add_bias_linear": "False", "bf16": "True", "consumed_train_samples": "0", "data_parallel_size": "8",
            "global_batch_size": "128", "gradient_accumulation_fusion": "True", "group_query_attention": "True",
            "hidden_size": "4096", "ffn_hidden_size": "14336", "kv_channels": "128", "max_position_embeddings": "8192",
            "micro_batch_size": "1", "num_attention_heads": "32", "num_layers": "32", "num_query_groups": "8",
            "num_experts": "None", "padded_vocab_size": "128256", "pipeline_model_parallel_size": "2",
            "seq_length": "8192", "swiglu": "True", "tensor_model_parallel_size": "4", "world_size": "64",
            "use_distributed_optimizer": "True", "virtual_pipeline_model_parallel_size": "4",
        }.items()
    )  # fmt: skip
    imported = import_source(ConfigSource(text=f"------ arguments ------\n{dump}\n----- end of arguments -----"))

    assert (imported.outcome, imported.unknown) == ("ok", ())
    assert value(imported, "/world_size") == 64
    assert value(imported, "/model/qkv_bias") is False
    assert value(imported, "/parallelism/virtual_pipeline") == 4
    assert value(imported, "/model/vocab_size") == 128256
    assert imported.findings.sources["/model/hidden_size"].origin == "key"


def test_a_deepspeed_file_decides_the_zero_stage() -> None:
    text = f"deepspeed --num_gpus 8 pretrain_gpt.py {COMPLETE} --deepspeed --deepspeed_config ds.json"
    imported = import_source(ConfigSource(text=text, files={"ds.json": '{"zero_optimization": {"stage": 2}}'}))

    assert value(imported, "/framework/name") == "deepspeed"
    assert value(imported, "/sharding/stage") == 2


def test_text_without_training_flags_is_no_training() -> None:
    imported = import_source(ConfigSource(text="echo hello", format="megatron"))

    assert (imported.outcome, imported.job) == ("invalid", None)
    assert codes(imported) == {"not_training"}


def test_a_dump_prints_members_of_python_types() -> None:
    flags = {
        "num_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "seq_length": 4096, "micro_batch_size": 1,
        "bf16": True, "use_precision_aware_optimizer": True, "attention_backend": "AttnBackend.flash",
        "exp_avg_dtype": "torch.bfloat16", "exp_avg_sq_dtype": "torch.float32", "use_distributed_optimizer": True,
    }  # fmt: skip
    text = "".join(f"  {key} {'.' * (48 - len(key))} {value}\n" for key, value in flags.items())
    found = import_source(ConfigSource(text=text, world_size=8))

    assert value(found, "/kernels/attention") == "flash"
    assert value(found, "/optimizer/moments") == ["bf16", "fp32"]


def test_a_rule_says_nothing_while_the_value_that_is_written_is_hidden() -> None:
    """Without a global batch there is one micro-batch, which is too few to interleave; here there is one, unknown."""
    flags = f"--bf16 {PP4} {V2} --tensor-model-parallel-size 2 --global-batch-size"
    hidden, absent = (import_config(ConfigSource(text=f"{COMPLETE} {each}", world_size=8)) for each in
                      (f"{flags} $GBS", flags.removesuffix("--global-batch-size")))  # fmt: skip

    assert "micro_batches_too_few" not in codes(hidden)
    assert missing(hidden) == {"GBS"}
    assert "micro_batches_too_few" in codes(absent)


def test_a_launcher_that_counts_gpus_itself_is_no_variable() -> None:
    found = read("", world_size=None, base=f"torchrun --nproc-per-node=gpu --nnodes $NNODES x.py {COMPLETE}")
    (asked,) = [each for each in found.findings.missing if each.fact == "world_size"]

    assert "env.NNODES" in asked.message
    assert "env.gpu" not in asked.message


DELTA_NET = "--experimental-attention-variant gdn --linear-num-value-heads 64"


def test_linear_attention_counts_its_full_layers_or_names_them() -> None:
    """`--linear-attention-freq 4` is full attention in every fourth layer; a list has 1 for linear attention."""
    counted = read(f"{DELTA_NET} --linear-attention-freq 4 --attention-output-gate")
    assert value(counted, "/model/full_attention_interval") == 4
    assert value(counted, "/model/attn_output_gate") is True
    assert value(counted, "/model/linear_num_value_heads") == 64
    assert value(counted, "/model/linear_num_key_heads") == 16
    named = read(f"{DELTA_NET} --linear-attention-freq '([1]*3+[0])*8'")
    assert value(named, "/model/layer_types") == (["linear_attention"] * 3 + ["full_attention"]) * 8


def test_a_variant_of_attention_that_nobody_described_stays_in_the_job() -> None:
    assert value(read("--experimental-attention-variant dsa"), "/model/layer_types") == ["dsa"] * 32


def test_a_pattern_of_letters_may_have_linear_attention() -> None:
    imported = read("--hybrid-layer-pattern GG*- --linear-key-head-dim 64")
    assert value(imported, "/model/layers_block_type") == ["linear_attention", "linear_attention", "attention", "mlp"]
    assert value(imported, "/model/linear_key_head_dim") == 64


PRIMUS = """
work_group: amd
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: {model}
    overrides:
      micro_batch_size: ${{MBS:4}}
      global_batch_size: 128
      seq_length: 4096
      max_position_embeddings: 4096
      tensor_model_parallel_size: 1
      log_avg_skip_iterations: 2
"""


@pytest.mark.parametrize("model", ["qwen2.5_7B.yaml", "${PRIMUS_MODEL:qwen2.5_7B}.yaml"])
def test_a_model_file_of_primus_is_the_public_model_that_it_is_called_after(model: str) -> None:
    found = import_source(ConfigSource(text=PRIMUS.format(model=model)))

    assert missing(found) == {"world_size"}
    assert value(found, "/model/hidden_size") == 3584
    assert (value(found, "/precision/compute"), value(found, "/batch/micro")) == ("bf16", 4)
    assert "unknown_keys" not in codes(found)


def test_another_model_file_is_asked_for_and_read_with_what_it_extends_when_supplied() -> None:
    text = PRIMUS.format(model="own_9B.yaml")
    files = {
        "own_9B.yaml": "extends: [own_base.yaml]\nnum_layers: 12\nhidden_size: 2048\n",
        "own_base.yaml": "num_layers: 99\nnum_attention_heads: 16\nvocab_size: 32000\nbases: [own_9B.yaml]\n",
    }

    assert missing(import_source(ConfigSource(text=text))) == {"own_9B.yaml", "world_size"}
    found = import_source(ConfigSource(text=text, files=files))
    assert missing(found) == {"world_size"}
    assert (value(found, "/model/num_hidden_layers"), value(found, "/model/num_attention_heads")) == (12, 16)


def test_numbers_of_gpus_that_only_variables_name_are_taken_with_a_warning() -> None:
    text = "num_gpus_pernode=8\nnum_node=4\ndeepspeed pretrain_gpt.py --deepspeed --zero-stage 1 " + COMPLETE
    found = import_source(ConfigSource(text=text))

    assert value(found, "/world_size") == 32
    assert "world_size_assumed" in codes(found)
