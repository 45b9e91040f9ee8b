"""Defaults of kernels, losses and checkpointing by implementation and version, down to measured layers."""

import json
from pathlib import Path
from typing import Any

import pytest

from service.calculator.activations.layer import layer_tensors
from service.calculator.offload import EVERYTHING, LAYER_INPUTS
from service.catalog.titan import titan_habits
from service.job.resolve import InvalidJob, Resolved, resolve
from service.job.schema import Job

DATA = Path(__file__).parents[1] / "data"
MEASURED = {
    each["name"]: each
    for name in ("saved_tensors.json", "saved_tensors_mixers.json")
    for each in json.loads((DATA / name).read_text("utf-8"))
}
DELTA = {"linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 32, "linear_value_head_dim": 16}
DENSE = {"mlp_only_layers": [0], "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 128}
STATE = {"mamba_n_heads": 16, "mamba_d_head": 32, "mamba_d_state": 24, "mamba_n_groups": 2}

LAYERS: dict[str, tuple[str, dict[str, Any], int]] = {
    "hf.llama.kv2.sdpa.bf16": ("llama", {}, 0),
    "hf.llama.kv2.sdpa.bf16.pad_mask": ("llama", {"batch": {"padding_mask": True}}, 0),
    "hf.llama.kv2.eager.bf16": ("llama", {"kernels": {"attention": "eager"}}, 0),
    "hf.llama.kv2.sdpa.fp32": ("llama", {"precision": {"compute": "fp32", "parameters": "fp32"}}, 0),
    "hf.llama.kv2.sdpa.autocast": ("llama", {"precision": {"parameters": "fp32", "autocast": True}}, 0),
    "hf.llama.kv2.compile_mincut": ("llama", {"kernels": {"compile": True}, "batch": {"padding_mask": True}}, 0),
    "hf.mistral.kv2.sdpa": ("mistral", {}, 0),
    "hf.qwen2.kv2.sdpa (qkv bias)": ("qwen2", {}, 0),
    "hf.qwen3.kv2.sdpa (qk-norm)": ("qwen3", {}, 0),
    "hf.gemma2.kv2.eager": ("gemma2", {}, 0),
    "hf.olmo2.kv8.sdpa": ("olmo2", {}, 0),
    "hf.phi3.kv2.sdpa (fused gate_up)": ("phi3", {}, 0),
    "hf.gptneox.sdpa": ("gpt_neox", {}, -8),
    "hf.gpt2.sdpa": ("gpt2", {}, -8),
    "hf.gpt2.eager": ("gpt2", {"kernels": {"attention": "eager"}}, -8),
    "hf.gpt2.sdpa.gelu_exact": ("gpt2", {"model": {"hidden_act": "gelu"}}, -8),
    "hf.mixtral.grouped_mm": ("mixtral", {"model": {"num_experts": 4, "num_experts_per_tok": 2}}, 0),
    "hf.mixtral.eager_experts": (
        "mixtral",
        {"model": {"num_experts": 4, "num_experts_per_tok": 2}, "framework": {"version": "transformers 4.57"}},
        0,
    ),
    "hf.bloom.eager": ("bloom", {}, -8),
    "hf.opt.sdpa": ("opt", {}, -8),
    "hf.opt.post_norm": ("opt", {"model": {"word_embed_proj_dim": 128, "do_layer_norm_before": False}}, -8),
    "hf.falcon.one_norm.sdpa": ("falcon", {}, -4),
    "hf.falcon.two_norms.sdpa": ("falcon", {"model": {"norms_per_layer": 2}}, -8),
    "hf.mpt.eager": ("mpt", {}, -8),
    "hf.qwen3next.delta.kernels": ("qwen3_next", {"model": {**DELTA, **DENSE}}, 0),
    "hf.qwen3next.delta.eager": (
        "qwen3_next",
        {"model": {**DELTA, **DENSE}, "kernels": {"linear_attention": "eager"}},
        0,
    ),
    "hf.qwen3next.full.sdpa": ("qwen3_next", {"model": {**DELTA, **DENSE, "full_attention_interval": 1}}, 0),
    "hf.bamba.mamba": ("bamba", {"model": {**STATE, "layer_types": ["linear_attention"]}}, 0),
    "hf.bamba.attention": ("bamba", {"model": {**STATE, "layers_block_type": ["attention"]}}, 0),
    "hf.nemotronh.mamba": ("nemotron_h", {"model": {**STATE, "layers_block_type": ["mamba"]}}, 0),
    "hf.nemotronh.mlp": ("nemotron_h", {"model": {**STATE, "layers_block_type": ["mlp"]}}, 0),
    "hf.nemotronh.attention": ("nemotron_h", {"model": {**STATE, "layers_block_type": ["attention"]}}, 0),
    "hf.granitehybrid.mamba.dense": ("granitemoehybrid", {"model": {**STATE, "layer_types": ["mamba"]}}, 0),
    "hf.granitehybrid.attention.moe": (
        "granitemoehybrid",
        {
            "model": {
                **STATE,
                "layer_types": ["attention"],
                "num_experts": 8,
                "num_experts_per_tok": 2,
                "moe_intermediate_size": 128,
                "shared_expert_intermediate_size": 704,
            }
        },
        0,
    ),
}
"""Family, what the job states beside its dimensions, and bytes a token that a GPU keeps more (LayerNorm statistics)."""


def job(**sections: dict[str, Any]) -> Resolved:
    document: dict[str, Any] = {
        "model": {"preset": "llama-3-8b"},
        "framework": {"name": "fsdp2"},
        "parallelism": {"data": 8},
        "batch": {"micro": 1, "sequence_length": 8192},
    }
    for name, fields in sections.items():
        document[name] = {**document.get(name, {}), **fields}
    return resolve(Job.model_validate(document))


@pytest.mark.parametrize("name", LAYERS)
def test_a_family_of_transformers_writes_its_layers_as_measured(name: str) -> None:
    family, stated, artefact = LAYERS[name]
    dims = MEASURED[name]["dims"]
    model = {
        "model_type": family,
        "hidden_size": dims["h"],
        "num_hidden_layers": 1,
        "num_attention_heads": dims["a"],
        "num_key_value_heads": dims["kv"],
        "head_dim": dims["dh"],
        "intermediate_size": dims["f"],
        "vocab_size": dims["V"],
        "max_position_embeddings": 512,
    }
    document: dict[str, Any] = {
        "model": model | stated.get("model", {}),
        "framework": {"name": "ddp", "transformer_impl": "hf"} | stated.get("framework", {}),
        "parallelism": {"data": 1},
        "batch": {"micro": dims["b"], "sequence_length": dims["s"]} | stated.get("batch", {}),
        "precision": {"parameters": "bf16"} | stated.get("precision", {}),
        "kernels": stated.get("kernels", {}),
        "dropout": {"hidden": 0.0, "attention": 0.0},
    }
    found = resolve(Job.model_validate(document))
    rows = layer_tensors(found.model.kinds[0], found.model, found.layout, found.recipe)
    total = sum(int(each.tensor.bytes) * int(each.copies) for each in rows)
    assert total + artefact * dims["T"] == MEASURED[name]["per_layer_bytes"]


class TestTitan:
    @pytest.mark.parametrize(
        ("version", "sections", "loss"),
        [
            ("torchtitan-2024-06-06", {}, "torch_float_in_model"),
            ("torchtitan-2025-02-05", {}, "torch_float"),
            ("torchtitan-2025-02-05", {"kernels": {"compile": True}}, "torch_float"),
            ("torchtitan-2024-11-01", {"kernels": {"compile": True}}, "compiled"),
            ("torchtitan-2025-12", {"kernels": {"compile": True}}, "compiled"),
            ("torchtitan-2025-12", {"parallelism": {"tensor": 2, "sequence": True}}, "loss_parallel"),
            ("torchtitan-2026-06-02", {}, "chunked"),
            ("torchtitan-2026-06-02 graph_trainer", {}, "torch_float"),
            ("torchtitan-2026-03-13 graph_trainer", {"parallelism": {"tensor": 2}}, "loss_parallel"),
            ("torchtitan-2026-06-02 graph_trainer", {"parallelism": {"tensor": 2}}, "loss_parallel_traced"),
            ("torchtitan-2026-08 graph_trainer", {}, "chunked"),
            (None, {}, "chunked"),
        ],
    )
    def test_the_loss_of_a_date(self, version: str | None, sections: dict[str, Any], loss: str) -> None:
        framework = {"version": version} if version else {}
        assert job(framework=framework, **sections).recipe.loss.name == loss

    def test_logits_were_kept_in_fp32_until_they_were_deleted(self) -> None:
        """torchtitan PR 391: 3.9 GB less for 8B."""
        before = job(framework={"version": "torchtitan-2024-06-06"}).recipe.loss
        after = job(framework={"version": "torchtitan-2024-07-18"}).recipe.loss
        assert (before.kept, after.kept) == (("fp32", "fp32"), ("fp32",))

    @pytest.mark.parametrize(
        ("version", "fused", "form", "repeated"),
        [
            ("torchtitan-2025-02-05", False, "cast_first", True),
            ("torchtitan-2025-04-01", False, "scale_first", True),
            ("torchtitan-2025-10-01", True, "scale_first", True),
            ("torchtitan-2026-03-13", True, "scale_first", False),
        ],
    )
    def test_norms_and_keys_of_a_date(self, version: str, *, fused: bool, form: str, repeated: bool) -> None:
        found = job(framework={"version": version}).recipe
        assert (found.norm_fused, found.norm_form, found.keys_repeated) == (fused, form, repeated)

    def test_units_and_streams_of_a_date(self) -> None:
        old, new = (job(framework={"version": f"torchtitan-{each}"}).recipe.sharding for each in ("2025-02", "2025-10"))
        graph = job(framework={"version": "torchtitan-2025-10/11 SimpleFSDP"}).recipe.sharding
        assert (old.ends_together, new.ends_together) == (True, False)
        assert (new.own_streams, graph.own_streams) == (True, False)

    def test_selective_checkpointing_saves_torchtitans_list(self) -> None:
        found = job(checkpointing={"granularity": "selective"}).layout.checkpointing
        assert found.op == ("mm", "attention", "reduce_scatter", "all_to_all", "max", "topk")

    def test_cudnns_attention_was_not_on_the_list(self) -> None:
        """torchtitan, 2025-10-09 to 2025-12-01: the issue behind PR 2095."""
        stated = {"granularity": "selective", "op": ["mm", "attention", "reduce_scatter", "max"]}
        found = job(framework={"version": "torchtitan-2025-11"}, checkpointing=stated).layout.checkpointing
        assert found.op == ("mm", "reduce_scatter", "max")

    def test_the_graph_trainer_keeps_every_product(self) -> None:
        version = {"version": "torchtitan-2026-06-02 graph_trainer"}
        found = job(framework=version, checkpointing={"granularity": "selective"}).layout.checkpointing
        assert found.op[0] == "every_mm"

    @pytest.mark.parametrize(("compiled", "kept"), [(True, 4096), (False, 3 * 4096)])
    def test_a_trace_keeps_the_sum_and_not_what_it_adds_up(self, *, compiled: bool, kept: int) -> None:
        """torchtitan PR 3429: results that are kept cost half as much on each of two tensor ranks."""
        found = job(
            checkpointing={"granularity": "selective", "op": ["every_mm", "reduce_scatter"]},
            parallelism={"tensor": 2, "sequence": True},
            kernels={"compile": compiled},
        )
        rows = layer_tensors(found.model.kinds[0], found.model, found.layout, found.recipe)
        names = ("attention.projection", "attention.reduced")
        cached = sum(int(each.tensor.bytes) * int(each.cached) for each in rows if each.tensor.name in names)
        assert cached == found.layout.micro_batch * found.layout.sequence_length * kept

    @pytest.mark.parametrize("key", ["every", "memory_budget"])
    def test_other_selective_forms_keep_no_list(self, key: str) -> None:
        stated = {"granularity": "selective", key: 2 if key == "every" else 0.5}
        found = job(checkpointing=stated).layout.checkpointing
        assert found.op == ()
        assert (found.every, found.budget_permille) == ((2, None) if key == "every" else (0, 500))

    def test_habits_are_todays_without_a_date(self) -> None:
        assert titan_habits(None) == titan_habits("torchtitan main") == {"loss_chunked", "loss_compiled"}


class TestRefusals:
    @pytest.mark.parametrize(
        ("sections", "pointer"),
        [
            (
                {"precision": {"fp8": {}}, "checkpointing": {"granularity": "selective", "op": "default"}},
                "/precision/fp8",
            ),
            ({"precision": {"fp8": {"backend": "torchao", "recipe": "delayed"}}}, "/precision/fp8/recipe"),
            ({"precision": {"fp8": {"backend": "msamp"}}}, "/precision/fp8/backend"),
            ({"precision": {"fp8": {"parameters": True}}}, "/precision/fp8/parameters"),
            ({"checkpointing": {"granularity": "selective", "modules": ["core_attn"]}}, "/checkpointing/modules"),
            ({"checkpointing": {"offload": ["everything_else"]}}, "/checkpointing/offload"),
            (
                {
                    "framework": {"name": "megatron-core"},
                    "checkpointing": {"granularity": "selective", "every": 2},
                    "sharding": {"stage": 0},
                },
                "/checkpointing/every",
            ),
        ],
    )
    def test_what_is_not_itemised(self, sections: dict[str, Any], pointer: str) -> None:
        with pytest.raises(InvalidJob) as refused:
            job(**sections)
        assert pointer in {each.fields[0] for each in refused.value.findings.errors}


@pytest.mark.parametrize(
    ("stated", "expected"),
    [("none", ()), ("inputs", (LAYER_INPUTS,)), ("all", (EVERYTHING,)), (["core_attn"], ("core_attn",))],
)
def test_offload_of_activations(stated: Any, expected: tuple[str, ...]) -> None:
    assert job(checkpointing={"offload": stated, "offload_layers": 4}).layout.checkpointing.offload == expected


def test_quantised_inputs_are_kept_where_any_day_of_the_version_keeps_them() -> None:
    """LitGPT asked for bitsandbytes 0.42 until December 2024, and ran its longest sample first until February 2024."""
    adapters = {"type": "qlora", "rank": 8, "modules": ["q", "v"]}

    def kept(version: str) -> tuple[bool, bool]:
        framework = {"name": "ddp", "version": version}
        found = job(framework=framework, adapters=adapters, parallelism={"data": 1}).recipe.adapters
        assert found is not None
        return found.inputs_kept, found.inputs_outlive_backward

    assert kept("LitGPT commit 8641822 (2023-10)") == (True, False)
    assert kept("LitGPT 2024-25") == kept("LitGPT 2024-06-01") == (True, True)
    assert kept("LitGPT") == kept("LitGPT 2025-03") == kept("torchtune 2024-06-01") == (False, False)


def test_tools_that_drop_inputs_of_adapters() -> None:
    adapters = {"type": "lora", "rank": 8, "modules": ["q", "v"]}

    def dropout(version: str) -> float:
        framework = {"name": "ddp", "version": version}
        found = job(framework=framework, adapters=adapters, parallelism={"data": 1}).recipe.adapters
        assert found is not None
        return found.dropout

    assert [dropout(each) for each in ("LitGPT 2024-25", "ms-swift 2024", "torchtune main")] == [0.05, 0.05, 0.0]
