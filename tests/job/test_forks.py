"""Forks by words in the version's text: what Aleph Alpha's trainer and InternEvo do otherwise."""

from typing import Any

import pytest

from service.calculator.activations.layer import layer_tensors
from service.calculator.estimate import StageEstimate, estimate
from service.calculator.ledger import Moment, Scope, alive_at
from service.job.resolve import Resolved, resolve
from service.job.schema import Job
from service.usecases.devices import accelerator_of, device_of

HIDDEN, HEADS, WIDTH, VOCABULARY, TOKENS = 5120, 40, 13824, 128000, 2048

LAYOUT_STUDY: dict[str, Any] = {
    "model": {
        "model_type": "llama",
        "hidden_size": HIDDEN,
        "num_hidden_layers": 40,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "intermediate_size": WIDTH,
        "vocab_size": VOCABULARY,
        "tie_word_embeddings": False,
    },
    "framework": {"name": "megatron-core", "version": "Aleph Alpha in-house 2023", "transformer_impl": "local"},
    "world_size": 64,
    "parallelism": {},
    "sharding": {"stage": 1},
    "batch": {"micro": 1, "global": 2048, "sequence_length": TOKENS},
    "precision": {"gradients": "bf16"},
    "kernels": {"attention": "flash", "cross_entropy": "torch_float", "norm": "fused"},
    "dropout": {"hidden": 0.0, "attention": 0.0},
}


def resolved(**changes: Any) -> Resolved:
    return resolve(Job.model_validate({**LAYOUT_STUDY, **changes}))


def stages(found: Resolved) -> tuple[StageEstimate, ...]:
    accelerator = accelerator_of(device_of("a100-sxm-80gb", ""))
    return estimate(found.model, found.layout, found.recipe, accelerator).stages


def saved(found: Resolved) -> dict[str, int]:
    tensors = layer_tensors(found.model.kinds[0], found.model, found.layout, found.recipe)
    return {each.tensor.name: int(each.tensor.bytes * each.copies) for each in tensors}


def at(stage: StageEstimate, moment: Moment, named: str) -> int:
    return sum(int(each.bytes) for each in alive_at(stage.lines, moment) if each.tensor.name.startswith(named))


class TestAlephAlpha:
    """Aleph-Alpha/scaling @ 737f8558, as which the trainer of the layout study was published."""

    def test_layers_are_shared_out_with_embedding_norm_and_head(self) -> None:
        """43 of them over 4 stages: 11, 11, 11 and 10."""
        chunks = resolved(parallelism={"pipeline": 4}).layout.placement.chunks
        assert [len(each[0]) for each in chunks] == [10, 11, 11, 8]

    def test_stated_stages_are_taken(self) -> None:
        chunks = resolved(parallelism={"pipeline": 2}, stages={"layers": [20, 20]}).layout.placement.chunks
        assert [len(each[0]) for each in chunks] == [20, 20]

    def test_the_attentions_output_is_kept_twice(self) -> None:
        found = saved(resolved())
        assert found["attention.output"] == found["attention.output_copy"] == 2 * TOKENS * HIDDEN

    def test_projections_keep_what_was_gathered_for_them(self) -> None:
        found = saved(resolved(parallelism={"tensor": 4, "sequence": True}))
        assert found["attention.norm.output"] == found["mlp.norm.output"] == 2 * TOKENS * HIDDEN
        assert found["attention.input"] == 2 * TOKENS * HIDDEN // 4

    def test_each_token_keeps_its_rows_of_the_rotary_tables(self) -> None:
        batch = {"micro": 2, "global": 2048, "sequence_length": TOKENS}
        assert saved(resolved(batch=batch))["attention.rotary_tables"] == 4 * 2 * 2 * TOKENS * 128

    def test_two_micro_batches_have_logits(self) -> None:
        [stage] = stages(resolved())
        assert at(stage, Moment.FIRST_BACKWARD, "logits.") == 16 * TOKENS * VOCABULARY

    @pytest.mark.parametrize(("tensor", "copies"), [(1, 0), (2, 2)])
    def test_gathered_logits_stay_reserved(self, tensor: int, copies: int) -> None:
        [stage] = stages(resolved(parallelism={"tensor": tensor}))
        lines = [each for each in stage.lines if each.tensor.name == "allocator.gathered_logits"]
        assert sum(int(each.bytes) for each in lines) == copies * 2 * TOKENS * VOCABULARY
        assert {each.scope for each in lines} <= {Scope.RESERVED}

    def test_softmax_runs_in_the_activations_type(self) -> None:
        kernels = {"attention": "eager", "cross_entropy": "torch_float", "norm": "eager"}
        assert "attention.softmax" not in saved(resolved(kernels=kernels))

    def test_megatrons_softmax_does_not(self) -> None:
        kernels = {"attention": "eager", "cross_entropy": "torch_float", "norm": "eager"}
        megatron = {"name": "megatron-core", "transformer_impl": "local"}
        assert "attention.softmax" in saved(resolved(kernels=kernels, framework=megatron))


def test_internevos_optimizer_over_fsdp_copies_twice() -> None:
    """AdamW of torch 2.0 over all tensors: the square roots, and those plus epsilon, 8 bytes a parameter of a shard."""
    internevo = {"name": "fsdp2", "version": "InternEvo v0.2.1dev20231121 FSDP1", "transformer_impl": "torch"}
    found = resolved(framework=internevo, sharding={"stage": 3}, precision={"parameters": "bf16", "master": "fp32"})
    [stage] = stages(found)
    states = at(stage, Moment.OPTIMIZER_STEP, "optimizer.first_moment")
    assert at(stage, Moment.OPTIMIZER_STEP, "optimizer.update") == 2 * states


def test_torchtune_cuts_its_loss_unless_told_otherwise() -> None:
    framework = {"name": "ddp", "version": "torchtune main", "transformer_impl": "torch"}
    plain = {"attention": "sdpa", "norm": "fused"}
    stated = {
        "framework": framework,
        "world_size": 1,
        "sharding": {},
        "precision": {},
        "batch": {"micro": 1, "sequence_length": TOKENS},
    }
    assert resolved(**stated, kernels=plain).recipe.loss.name == "chunked_outputs"
    assert resolved(**stated, kernels={**plain, "cross_entropy": "torch_float"}).recipe.loss.name == "torch_float"
