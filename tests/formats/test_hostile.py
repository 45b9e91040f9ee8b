"""Hostile and oversized texts: inert, refused with a diagnostic, and within the time that a request has."""

import json
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from service.formats.registry import import_source
from service.formats.source import LARGEST_TEXT, ConfigSource
from service.formats.syntax.shell import read_script

COMMAND = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 8 --seq-length 8\n"
SHELL_LIMIT = 1024 * 1024
# The bound is 2 s of an idle core; the time of the processor is measured, and a shared core is slower.
SECONDS = 4

# Each made the parser or an early evaluator take minutes, memory, or Python's whole stack.
REPEATED = [
    "[]", ") ", "() ", "<<A\n", "a=( ", "f()\n", "((a\n", "$[", "|", "case\n", "=~ ", "${", '"${', "[[ a == ", "[[ ( ",
    "$(", "`", '"', "'", "{", "if a; then\n", "case x in a) ", "a && ", "X=$X$X\n", 'A=("${A[@]}" x "${A[@]}")\n',
    "for i in 1 2 3; do ", "while true; do :; done\n", "f() { f; }; f\n", "{1..100000} ", 'eval "eval a"\n',
    'if [ "$Q" = 1 ]; then A=1; else A=2; fi\n', "case $Q in a) A=1;; b) A=2;; esac\n", "<<EOF\n$X\nEOF\n",
    ": ${X//a/bbbb}\n", "X+=aaaa\n", "\\\n# x\n", "a[999999999]=1\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", REPEATED)
def test_a_hostile_script_is_read_or_refused_in_time(unit: str) -> None:
    text = "X=aaaaaaaa\n" + unit * ((SHELL_LIMIT - 100) // len(unit))
    start = time.process_time()

    read_script(text, env={})

    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("format_", ["auto", "megatron", "huggingface"])
@pytest.mark.parametrize(
    "unit",
    ["[", '{"a":', "$(touch x)", "--num-layers ", "\n", "a: &a [*a,*a]\n", "- ", "num_layers ...... 2\n",
     '"hidden_size": 1,', "x", " ", "é"],
)  # fmt: skip
def test_five_megabytes_of_anything_are_answered_in_time(format_: str, unit: str) -> None:
    for head in ("", COMMAND, '{"model_type": "llama", "hidden_size": ', "num_layers: 4\nmicro_batch_size: 1\n"):
        text = (head + unit * (LARGEST_TEXT // len(unit)))[: LARGEST_TEXT - 1]
        start = time.process_time()

        imported = import_source(ConfigSource(text=text, format=format_))

        assert time.process_time() - start < SECONDS
        assert imported.outcome != "ok"
        assert imported.findings.errors or imported.findings.missing


def test_an_ordinary_script_of_100_kb_is_read_quickly() -> None:
    lines = [f'export SETTING_{n}="${{SETTING_{n}:-some value of ordinary length {n}}}"  # note' for n in range(1300)]
    text = "\n".join(lines) + "\n" + COMMAND
    assert len(text) > 100_000
    start = time.process_time()

    imported = import_source(ConfigSource(text=text))

    # 100 ms on an idle core.
    assert time.process_time() - start < 1
    assert imported.job is not None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (COMMAND + "\x00", "invalid_text"),
        (COMMAND + "#" * SHELL_LIMIT, "too_large"),
        (COMMAND + "(" * 300, "too_deep"),
        (COMMAND + "while true; do :; done", "too_large"),
        (COMMAND + "f() { f; }; f", "too_deep"),
        ("X=aa\n" + "X=$X$X\n" * 60 + COMMAND, "too_large"),
        (COMMAND + "[]" * 100_000, "syntax"),
    ],
)
def test_a_bound_that_is_passed_is_named(text: str, code: str) -> None:
    imported = import_source(ConfigSource(text=text, format="megatron"))

    assert imported.outcome == "invalid"
    assert code in {each.code for each in imported.findings.errors}


@pytest.mark.parametrize(
    "payload",
    ["$(touch {proof})", "`touch {proof}`", "<(touch {proof})", "; touch {proof}", "| touch {proof}",
     "&& touch {proof}", "$(( $(touch {proof}) ))", "'; touch {proof}; '", "\n touch {proof}\n",
     "> {proof}", "${{X:-$(touch {proof})}}"],
)  # fmt: skip
def test_nothing_in_a_script_is_executed(payload: str, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    inside = payload.format(proof=proof)

    import_source(ConfigSource(text=f"{COMMAND.rstrip()} --hidden-size {inside}"))
    import_source(ConfigSource(text=f'X={inside}\neval "$X"\nsource {proof}\n{COMMAND}'))
    import_source(ConfigSource(argv=["--num-layers", inside], env={"X": inside}))

    assert not proof.exists()


def test_no_file_of_the_machine_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.sh"
    secret.write_text("H=4096")

    imported = import_source(ConfigSource(text=f"source {secret}\n{COMMAND.rstrip()} --hidden-size $H"))

    assert "4096" not in str(imported)
    assert {"H", "secret.sh"} <= {each.fact for each in imported.findings.missing}


PIECES = st.sampled_from(
    ["$", "{", "}", "(", ")", "[", "]", '"', "'", "`", "\\", "\n", " ", "#", "=", ":", "-", "--x", "a", "1", "|", "&",
     ";", "<<E\n", "E\n", "if ", "then ", "fi ", "case ", "in ", "esac ", "for ", "do ", "done ", "((", "))", "[[ ",
     " ]]", "A=(", "${A[@]}", "$1", "eval ", "source ", "%", "/", "*", "!", "\t", "é", "\x1b", "torchrun x.py "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join))
@settings(max_examples=150, deadline=None)
def test_no_text_makes_the_importer_fail(text: str) -> None:
    imported = import_source(ConfigSource(text=text + "\n" + COMMAND, format="megatron"))

    assert imported.outcome in {"ok", "incomplete", "invalid"}


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["hidden_size", "n_embd", "architectures", "text_config", "model_type", "layer_types", "moe_layers", "head_dim",
         "tie_word_embeddings", "num_hidden_layers", "interleave_moe_layer_step", "quantization_config"]
    ), inner, max_size=5),
    max_leaves=12,
))  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_no_json_makes_the_importer_fail(value: object) -> None:
    for config in (value, {"model_type": "llama4_text", "hidden_size": value, "num_hidden_layers": value}):
        imported = import_source(ConfigSource(text=json.dumps(config), format="huggingface"))

        assert imported.outcome in {"incomplete", "invalid"}


def manifest_of(command: list[str], name: str = "a") -> dict[str, object]:
    container = {"command": command, "resources": {"limits": {"nvidia.com/gpu": 8}}}
    template = {"spec": {"containers": [container]}}
    spec = {"parallelism": 2, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize("unit", ["() ", 'if [ "$Q" = 1 ]; then A=1; else A=2; fi\n', "\\\n# x\n", "[]"])
def test_a_hostile_script_in_a_manifest_is_answered_in_time(unit: str) -> None:
    script = "X=aaaaaaaa\n" + unit * (200 * 1024 // len(unit))
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "m"},
        "data": {"run.sh": script[:99_000]},
    }
    once = yaml.safe_dump(manifest_of(["bash", "-c", script]))
    often = yaml.safe_dump_all([config_map, *(manifest_of(["bash", "/m/run.sh"], str(each)) for each in range(90))])

    for text in (once, often):
        start = time.process_time()

        imported = import_source(ConfigSource(text=text))

        assert time.process_time() - start < SECONDS
        assert imported.outcome != "ok"


@pytest.mark.parametrize("unit", ["- [", "---\n", "- {kind: Job}\n", "a: {"])
@pytest.mark.parametrize("format_", ["auto", "kubernetes", "slurm"])
def test_a_hostile_manifest_is_answered_in_time(unit: str, format_: str) -> None:
    head = "apiVersion: v1\nkind: List\nitems:\n"
    for size in (LARGEST_TEXT, 250 * 1024):
        start = time.process_time()

        imported = import_source(ConfigSource(text=(head + unit * (size // len(unit)))[: size - 1], format=format_))

        assert time.process_time() - start < SECONDS
        assert imported.outcome != "ok"
