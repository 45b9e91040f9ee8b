"""What is refused comes with the field, the rule and a change that helps (api.md, Conventions)."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from service.job.diagnostics import Diagnostic
from service.job.resolve import InvalidJob, resolve
from service.job.schema import Job, field_of

FRAMEWORKS = ("megatron-core", "deepspeed", "fsdp2", "fsdp1", "ddp", "hf-trainer")
OPTIONS: dict[str, tuple[Any, ...]] = {
    "/sharding/stage": (0, 1, 2, 3),
    "/precision/parameters": ("fp8", "fp16"),
    "/precision/fp8": ({"recipe": "delayed"}, {"recipe": "current"}, {"recipe": "mxfp8"}, {"recipe": "nvfp4"}),
    "/optimizer/in_backward": (True,),
    "/optimizer/offload": ("cpu", "nvme", {"fraction": 0.5}),
    "/optimizer/parameter_offload": ("cpu", "nvme"),
    "/checkpointing/op": ("default", ["mm"]),
    "/checkpointing/every": (2,),
    "/checkpointing/memory_budget": (0.5,),
    "/checkpointing/modules": (["core_attn"], ["mlp"]),
    "/checkpointing/offload": ("inputs", "all", ["core_attn"], ["mlp"]),
    "/kernels/cuda_graphs": (True,),
    "/kernels/cross_entropy": ("megatron", "te", "torch", "hf", "loss_parallel", "chunked", "liger", "cut"),
    "/adapters": ({"type": "lora", "rank": 8, "modules": ["q", "v"]}, {"type": "qlora", "rank": 8, "modules": ["q"]}),
    "/stages": ({"account_for_embedding": True, "account_for_loss": True}, {"first": 40}, {"layers": [1, 2]}),
}


Document = dict[str, Any]


def document(framework: str, pointer: str, value: Any) -> Document:
    plain = {
        "model": {"preset": "llama-3-8b"},
        "framework": {"name": framework},
        "world_size": 8,
        "batch": {"micro": 1, "sequence_length": 2048},
    }
    return changed(plain, pointer.strip("/").split("/"), value)


def changed(node: Document, path: Sequence[str], value: Any) -> Document:
    name, *rest = path
    return node | {name: changed(node.get(name) or {}, rest, value) if rest else value}


def refused(stated: Document) -> Sequence[Diagnostic]:
    try:
        resolve(Job.model_validate(stated))
    except InvalidJob as error:
        return error.findings.errors
    return ()


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("pointer", OPTIONS)
def test_a_refusal_names_a_field_a_rule_and_a_fix(framework: str, pointer: str) -> None:
    for value in OPTIONS[pointer]:
        for each in refused(document(framework, pointer, value)):
            assert each.fields, each
            assert each.rule, each
            assert each.fixes, each


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("pointer", OPTIONS)
def test_the_fix_of_what_is_not_supported_helps(framework: str, pointer: str) -> None:
    for value in OPTIONS[pointer]:
        stated = document(framework, pointer, value)
        for each in refused(stated):
            if each.code == "unsupported_option":
                (fix,) = each.fixes
                field, _, text = fix.partition(": ")
                stated = changed(stated, field.split("."), json.loads(text))
        assert "unsupported_option" not in {each.code for each in refused(stated)}


@pytest.mark.parametrize(
    ("fact", "pointer"),
    [("micro", "/batch/micro"), ("global", "/batch/global"), ("world_size", "/world_size"),
     ("hidden_size", "/model/hidden_size"), ("NNODES", None)],
)  # fmt: skip
def test_a_missing_fact_is_pointed_at(fact: str, pointer: str | None) -> None:
    assert field_of(fact) == pointer
