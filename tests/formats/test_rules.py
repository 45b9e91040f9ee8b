"""What the frameworks refuse or do in silence, each rule with a config that breaks it and the code that says so."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from service.formats.source import ConfigSource
from service.usecases.imports import import_config

MEGATRON = {
    "num-layers": 32, "hidden-size": 4096, "num-attention-heads": 32, "seq-length": 4096, "vocab-size": 32000,
    "max-position-embeddings": 4096, "micro-batch-size": 1, "global-batch-size": 64, "bf16": True,
    "group-query-attention": True, "num-query-groups": 8,
}  # fmt: skip


def megatron(gpus: int = 64, **changes: Any) -> ConfigSource:
    flags = {**MEGATRON, **{key.replace("_", "-"): value for key, value in changes.items()}}
    said = [f"--{key}" + ("" if value is True else f" {value}") for key, value in flags.items() if value is not None]
    return ConfigSource(text=f"torchrun --nnodes 1 --nproc_per_node {gpus} pretrain_gpt.py {' '.join(said)}")


MOE = {"num_experts": 8, "moe_router_topk": 2, "moe_ffn_hidden_size": 1024}
FULL = {"recompute_granularity": "full"}
MEGATRON_RULES: Mapping[str, tuple[ConfigSource, str]] = {
    "M1 world": (megatron(8, tensor_model_parallel_size=8, pipeline_model_parallel_size=16),
                 "world_size_not_divisible"),
    "M2 expert grid": (megatron(4, **MOE, tensor_model_parallel_size=2, expert_model_parallel_size=4),
                       "expert_grid_not_divisible"),
    "M3 heads": (megatron(66, tensor_model_parallel_size=3, global_batch_size=66), "heads_tp"),
    "M4 groups": (megatron(num_query_groups=6, num_attention_heads=36, hidden_size=4608, tensor_model_parallel_size=4),
                  "kv_heads_tp"),
    "M5 experts": (megatron(**MOE, expert_model_parallel_size=16), "experts_not_divisible"),
    "M5 without experts": (megatron(expert_model_parallel_size=2), "experts_not_divisible"),
    "M6 layers": (megatron(num_layers=30, pipeline_model_parallel_size=4), "layers_not_divisible"),
    "M7 chunks": (megatron(num_layers=80, pipeline_model_parallel_size=16, num_layers_per_virtual_pipeline_stage=2),
                  "vpp_remainder"),
    "M8 two splits": (megatron(pipeline_model_parallel_size=4, num_layers_per_virtual_pipeline_stage=4,
                               num_virtual_stages_per_pipeline_rank=2), "flag_conflict"),
    "M8 uneven and chunks": (megatron(pipeline_model_parallel_size=4, num_layers_per_virtual_pipeline_stage=4,
                                      decoder_first_pipeline_num_layers=5), "flag_conflict"),
    "M9 one stage": (megatron(num_virtual_stages_per_pipeline_rank=2), "interleaving_without_pipeline"),
    "M10 uneven": (megatron(num_layers=33, pipeline_model_parallel_size=4, decoder_first_pipeline_num_layers=5,
                            decoder_last_pipeline_num_layers=5), "uneven_stages"),
    "M11 layout": (megatron(pipeline_model_parallel_size=2, pipeline_model_parallel_layout="'Et*4|t*4L'"),
                   "layout_string"),
    "M12 batch": (megatron(global_batch_size=65), "batch_triad"),
    "M13 micro-batches": (megatron(48, num_layers=24, pipeline_model_parallel_size=6, global_batch_size=24,
                                   num_virtual_stages_per_pipeline_rank=2), "micro_batches_too_few"),
    "M14 context": (megatron(seq_length=4098, max_position_embeddings=8192, context_parallel_size=4), "seq_divisor"),
    "M15 sequence": (megatron(seq_length=4098, max_position_embeddings=8192, tensor_model_parallel_size=4,
                              sequence_parallel=True), "seq_divisor"),
    "M16 sequence at tp 1": (megatron(sequence_parallel=True), "ignored_option"),
    "M17 width": (megatron(hidden_size=4100), "hidden_heads"),
    "M17 positions": (megatron(max_position_embeddings=2048), "sequence_too_long"),
    "M18 full alone": (megatron(**FULL), "checkpointing_incomplete"),
    "M18 selective with a method": (megatron(recompute_granularity="selective", recompute_method="uniform"),
                                    "checkpointing_conflict"),
    "M18 unknown module": (megatron(recompute_granularity="selective", recompute_modules="nothing"),
                            "checkpointing_modules"),
    "M19 saved apart": (megatron(**FULL, recompute_method="uniform", recompute_num_layers=1,
                                 distribute_saved_activations=True), "distributed_saves"),
    "M19 offload": (megatron(pipeline_model_parallel_size=2, cpu_offloading_num_layers=2), "layer_offload"),
    "M20 FSDP 2 and stages": (megatron(use_torch_fsdp2=True, pipeline_model_parallel_size=2), "fsdp_excludes"),
    "M20 FSDP 2 and states": (megatron(use_torch_fsdp2=True, use_distributed_optimizer=True), "fsdp_excludes"),
    "M20 early gathering": (megatron(overlap_param_gather=True), "overlap_without_sharding"),
    "M21 precision": (megatron(fp16=True), "flag_conflict"),
    "M21 narrow types": (megatron(fp8_format="hybrid", fp4_format="e2m1"), "precision_conflict"),
    "M21 attention": (megatron(multi_latent_attention=True, kv_lora_rank=64, v_head_dim=64, qk_head_dim=64,
                               qk_pos_emb_head_dim=32), "flag_conflict"),
    "M21 fp8 weights": (megatron(fp8_param_gather=True), "precision_conflict"),
    "M22 batch": (megatron(step_batch_size_schedule="0:16 2.4B:320"), "batch_conflict"),
    "repeated flag": (ConfigSource(text=f"{megatron().text} --global-batch-size 128"), "repeated_flag"),
}  # fmt: skip


# Megatron goes on, and so does the import.
WARNINGS = {"ignored_option", "repeated_flag"}


@pytest.mark.parametrize("rule", MEGATRON_RULES)
def test_a_rule_of_megatron_is_named(rule: str) -> None:
    source, code = MEGATRON_RULES[rule]

    imported = import_config(source)

    assert code in {each.code for each in imported.findings.diagnostics}
    assert (imported.outcome == "invalid") is (code not in WARNINGS)


def test_the_launch_that_the_rules_start_from_breaks_none() -> None:
    imported = import_config(megatron())

    assert imported.outcome == "ok"
    assert {each.severity for each in imported.findings.diagnostics} <= {"info"}


LLAMA = {"model": {"preset": "llama-3-8b"}}


def given(text: str, world_size: int | None = 8, **source: Any) -> ConfigSource:
    return ConfigSource.model_validate({"text": text, "world_size": world_size, **source})


def deepspeed(world_size: int = 8, **document: Any) -> ConfigSource:
    return given(json.dumps({"train_micro_batch_size_per_gpu": 1, **document}), world_size, **LLAMA)


def titan(text: str, world_size: int = 64, flavor: str = "8B", name: str = "llama3") -> ConfigSource:
    return given(f'model.name = "{name}"\nmodel.flavor = "{flavor}"\ntraining.local_batch_size = 8\n{text}', world_size)


def axolotl(text: str, world_size: int = 8) -> ConfigSource:
    base = "base_model: Qwen/Qwen3-8B\nmicro_batch_size: 1\nsequence_len: 4096\nbf16: true\noptimizer: adamw_torch\n"
    return given(base + text, world_size, format="axolotl")


def factory(text: str, world_size: int = 8) -> ConfigSource:
    base = "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\ntemplate: qwen3\ncutoff_len: 4096\n"
    return given(base + text, world_size)


def verl(*overrides: str) -> ConfigSource:
    base = {
        "actor_rollout_ref.model.path": "Qwen/Qwen3-8B", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": "1",
        "actor_rollout_ref.actor.ppo_mini_batch_size": "64", "data.train_batch_size": "256",
        "data.max_prompt_length": "1024", "data.max_response_length": "1024", "trainer.n_gpus_per_node": "8",
        "trainer.nnodes": "1", **dict(each.split("=") for each in overrides),
    }  # fmt: skip
    return ConfigSource(argv=["python3", "-m", "verl.trainer.main_ppo", *(f"{k}={v}" for k, v in base.items())])


def batch_job(directives: str, command: str) -> ConfigSource:
    flags = megatron().text or ""
    script = flags[flags.index("pretrain_gpt.py") :]
    return ConfigSource(
        text=f"#!/bin/bash\n#SBATCH --nodes=8 --gpus-per-node=8 {directives}\nsrun {command} {script}\n"
    )


def pods(replicas: int, command: str, gpus: Any = 8) -> ConfigSource:
    flags = megatron().text or ""
    container = {
        "command": ["bash", "-c", f"{command} {flags[flags.index('pretrain_gpt.py') :]}"],
        "resources": {"limits": {"nvidia.com/gpu": gpus}},
    }
    worker = {"replicas": replicas, "template": {"spec": {"containers": [container]}}}
    manifest = {
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "a"},
        "spec": {"pytorchReplicaSpecs": {"Worker": worker}},
    }  # fmt: skip
    return ConfigSource(text=json.dumps(manifest))


NANOTRON = """model: {{dtype: bfloat16, model_config: {{is_llama_config: true, hidden_size: 1024,
  intermediate_size: 4096, num_hidden_layers: 16, num_attention_heads: 8, num_key_value_heads: 4, vocab_size: 49152}}}}
parallelism: {{{degrees}, tp_mode: REDUCE_SCATTER}}
optimizer: {{accumulate_grad_in_fp32: false, zero_stage: 0}}
tokens: {{micro_batch_size: 1, batch_accumulation_per_replica: {rounds}, sequence_length: {length}}}
"""
TUNE = """model: {_component_: torchtune.models.llama3.llama3_8b}
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 4096}
optimizer: {_component_: torch.optim.AdamW}
batch_size: 2
dtype: bf16
"""
ACCELERATE = "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_machines: 1\nmixed_precision: bf16\n"
BF16 = {"bf16": {"enabled": True}}
RULES: Mapping[str, tuple[ConfigSource, str]] = {
    "D1 product": (deepspeed(train_batch_size=12, gradient_accumulation_steps=2), "batch_triad"),
    "D2 no number": (given(json.dumps({"zero_optimization": {"stage": 1}, "steps_per_print": 1}), **LLAMA),
                     "batch_missing"),
    "D3 text": (deepspeed(train_batch_size="eight"), "value_type"),
    "D3 nothing": (deepspeed(train_batch_size=0), "value_type"),
    "D4 precision": (deepspeed(fp16={"enabled": True}, **BF16), "precision_conflict"),
    "D4 weights": (deepspeed(zero_optimization={"stage": 2, "offload_param": {"device": "cpu"}}), "offload_stage"),
    "D4 states": (deepspeed(zero_optimization={"stage": 0, "offload_optimizer": {"device": "cpu"}}), "offload_stage"),
    "D4 a part": (deepspeed(zero_optimization={"stage": 2, "offload_optimizer": {"device": "cpu", "ratio": 0.5}}),
                  "offload_stage"),
    "D4 stage": (deepspeed(zero_optimization={"stage": 4}), "value_type"),
    "D5 trainer": (deepspeed(gradient_accumulation_steps=1).model_copy(update={
        "files": {"a.json": '{"per_device_train_batch_size": 4, "gradient_accumulation_steps": 1, "output_dir": "a"}'}
    }), "trainer_mismatch"),
    "D6 product": (given(ACCELERATE + "num_processes: 8\nfsdp_config: {fsdp_version: 2}\nparallelism_config: "
                         "{parallelism_config_tp_size: 4, parallelism_config_dp_shard_size: 4}\n", None),
                   "world_size_mismatch"),
    "D6 two kinds": (given(ACCELERATE + "num_processes: 8\nfsdp_config: {fsdp_version: 2}\nparallelism_config: "
                           "{parallelism_config_cp_size: 2, parallelism_config_sp_size: 2, "
                           "parallelism_config_dp_shard_size: 2}\n", None), "parallelism_conflict"),
    "D6 FSDP 1": (given(ACCELERATE + "num_processes: 8\nfsdp_config: {fsdp_version: 1}\nparallelism_config: "
                        "{parallelism_config_tp_size: 8}\n", None), "parallelism_conflict"),
    "D7 one rank": (deepspeed(1, zero_optimization={"stage": 3}), "ignored_option"),
    "D7 pipeline": (deepspeed(zero_optimization={"stage": 2}, pipeline={"stages": 2}), "zero_pipeline"),
    "D auto": (deepspeed(gradient_accumulation_steps="auto"), "auto_unresolved"),
    "D8 groups": (given(json.dumps({"train_micro_batch_size_per_gpu": 1, "tensor_parallel": {"autotp_size": 16},
                                    "zero_optimization": {"stage": 1}}), 16, **LLAMA), "kv_heads_tp"),
    "T1 product": (titan("parallelism.data_parallel_shard_degree = 4\nparallelism.tensor_parallel_degree = 8", 8),
                   "world_size_mismatch"),
    "T1 rest": (titan("parallelism.tensor_parallel_degree = 8\nparallelism.pipeline_parallel_degree = 4", 8),
                "world_size_not_divisible"),
    "T2 groups": (titan("parallelism.tensor_parallel_degree = 16"), "kv_heads_tp"),
    "T3 length": (titan("training.seq_len = 4098\nparallelism.tensor_parallel_degree = 4"), "seq_divisor"),
    "T4 expert tensor": (titan("parallelism.tensor_parallel_degree = 4\nparallelism.expert_parallel_degree = 4\n"
                               "parallelism.expert_tensor_parallel_degree = 2", 64, "16B", "deepseek_v3"),
                         "expert_grid_not_divisible"),
    "T5 batch": (titan("training.global_batch_size = 500"), "batch_triad"),
    "T6 micro-batches": (titan("parallelism.pipeline_parallel_degree = 4\n"
                               "parallelism.pipeline_parallel_microbatch_size = 4"), "micro_batches_too_few"),
    "T6 cut": (titan("parallelism.pipeline_parallel_degree = 4\nparallelism.pipeline_parallel_microbatch_size = 3"),
               "batch_triad"),
    "T7 stages": (titan("parallelism.pipeline_parallel_degree = 4\n"
                        "parallelism.pipeline_parallel_schedule = 'Interleaved1F1B'\n"
                        "parallelism.pipeline_parallel_layers_per_stage = 7"), "vpp_remainder"),
    "T7 one stage": (titan("parallelism.pipeline_parallel_degree = 2\nparallelism.pipeline_parallel_schedule = '1F1B'\n"
                           "parallelism.pipeline_parallel_layers_per_stage = 9"), "schedule_conflict"),
    "N1 product": (given(NANOTRON.format(degrees="dp: 2, pp: 1, tp: 2", rounds=8, length=1024), 8),
                   "world_size_mismatch"),
    "N1 ring": (given(NANOTRON.format(degrees="dp: 2, pp: 1, tp: 2, context_parallel_size: 4", rounds=8, length=1028),
                      16), "seq_divisor"),
    "N2 rounds": (given(NANOTRON.format(degrees="dp: 1, pp: 8, tp: 1, pp_engine: 1f1b", rounds=4, length=1024)),
                  "micro_batches_too_few"),
    "U1 offload": (given(TUNE + "enable_activation_offloading: true\nenable_activation_checkpointing: false\n"),
                   "option_conflict"),
    "U1 in backward": (given(TUNE + "optimizer_in_bwd: true\ngradient_accumulation_steps: 4\n"), "option_conflict"),
    "U1 tensor": (given(TUNE + "tensor_parallel_dim: 2\n"), "option_conflict"),
    "A1 batch": (axolotl(""), "option_conflict"),
    "A1 engines": (axolotl("gradient_accumulation_steps: 1\ndeepspeed: deepspeed_configs/zero3.json\n"
                           "fsdp_version: 2\nfsdp_config: {offload_params: false}\n"), "option_conflict"),
    "A1 warm-up": (axolotl("gradient_accumulation_steps: 1\nwarmup_steps: 1\nwarmup_ratio: 0.1\n"), "option_conflict"),
    "A1 8 bits": (axolotl("gradient_accumulation_steps: 1\nfsdp_version: 2\nfsdp_config: {offload_params: false}\n"
                          "optimizer: adamw_bnb_8bit\n"), "option_conflict"),
    "A1 offload": (axolotl("gradient_accumulation_steps: 1\nactivation_offloading: true\n"), "option_conflict"),
    "A2 bf16": (factory("finetuning_type: full\npure_bf16: true\ndeepspeed: examples/deepspeed/ds_z3_config.json\n"),
                "option_conflict"),
    "A2 layer-wise": (factory("finetuning_type: full\nuse_galore: true\ngalore_layerwise: true\n"),
                      "layerwise_single_gpu"),
    "A2 GaLore": (factory("finetuning_type: full\nuse_galore: true\n"
                          "deepspeed: examples/deepspeed/ds_z2_config.json\n"), "option_conflict"),
    "A2 quantised": (factory("finetuning_type: full\nquantization_bit: 4\n"), "option_conflict"),
    "A3 degrees": (verl("actor_rollout_ref.actor.strategy=megatron",
                        "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=3"), "world_size_not_divisible"),
    "A3 batch": (verl("data.train_batch_size=255"), "batch_triad"),
    "A3 two sizes": (verl("actor_rollout_ref.actor.ppo_micro_batch_size=8"), "option_conflict"),
    "A3 heads": (verl("actor_rollout_ref.actor.ulysses_sequence_parallel_size=5", "trainer.n_gpus_per_node=5",
                      "data.train_batch_size=320"), "heads_tp"),
    "A4 tasks around a launcher": (batch_job("--ntasks-per-node=8", "torchrun --nnodes 8 --nproc_per_node 8"),
                                   "tasks_per_node"),
    "A4 tasks alone": (batch_job("--ntasks-per-node=4", "python"), "tasks_per_node"),
    "A4 processes": (batch_job("--ntasks-per-node=1", "torchrun --nnodes 8 --nproc_per_node 16"),
                     "processes_exceed_gpus"),
    "A5 nodes": (pods(8, "torchrun --nnodes 4 --nproc_per_node 8"), "replicas_mismatch"),
    "A5 whole GPUs": (pods(8, "torchrun --nnodes 8 --nproc_per_node 8", "0.5"), "value_type"),
    "A5 idle GPUs": (pods(8, "torchrun --nnodes 8 --nproc_per_node 4"), "world_size_mismatch"),
    "keys": (axolotl("gradient_accumulation_steps: 1\nmicro_batch_sise: 2\n"), "unknown_keys"),
    "keys twice": (axolotl("gradient_accumulation_steps: 1\ngradient_accumulation_steps: 2\n"), "duplicate_key"),
    "no training": (given("apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {containers: "
                          "[{command: [echo, hello]}]}}}\n", None), "not_training"),
    "no model": (given("base_model: somebody/unknown\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n",
                       format="axolotl"), "recipe_unknown"),
    "no architecture": (given('{"model_type": "nobody", "hidden_size": 8, "num_hidden_layers": 2}'),
                        "unknown_architecture"),
    "mixed layers": (megatron(hybrid_layer_pattern="M*M-M*M-", num_layers=8, is_hybrid_model=True), "hybrid_model"),
    "host": (axolotl("gradient_accumulation_steps: 1\nfsdp_version: 2\nfsdp_config: {offload_params: true}\n"),
             "host_memory"),
    "several roles": (verl(), "multiple_roles"),
    "a file": (ConfigSource(text=f"source sizes.sh\n{megatron(num_layers='$LAYERS').text}"), "missing_file"),
    "a variable": (megatron(num_layers="$LAYERS"), "unresolved"),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_of_another_framework_or_launcher_is_named(rule: str) -> None:
    source, code = RULES[rule]

    assert code in {each.code for each in import_config(source).findings.diagnostics}
