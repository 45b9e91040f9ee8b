"""Everything that a text could make a careless reader do, in every dialect: inert, bounded, and answered."""

import json
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from service.formats.source import ConfigSource
from service.usecases.imports import import_config
from tests.formats.documented import documented_example, sections

TITLES = [title for title, body in sections().items() if "**Read**" in body]
# The bound is 2 s of an idle core; the time of the processor is measured, and a shared core is slower.
SECONDS = 4

PAYLOADS = [
    "$(touch {proof})", "`touch {proof}`", "<(touch {proof})", ">(touch {proof})", "$(( $(touch {proof}) ))",
    "${{X:-$(touch {proof})}}", "; touch {proof} ;", "| touch {proof}", "&& touch {proof}", "> {proof}",
    "!!python/object/apply:os.system ['touch {proof}']", "!!python/object/new:subprocess.Popen [['touch', '{proof}']]",
    "!include {secret}", "${{oc.env:PROOF_SECRET}}", "${{file:{secret}}}", "{{{{ lookup('file', '{secret}') }}}}",
    "__import__('os').system('touch {proof}')", "file://{secret}", "http://127.0.0.1:1/x", "{secret}", "../../{secret}",
    "eval 'touch {proof}'", "source {secret}", ". {secret}", "exec touch {proof}", "trap 'touch {proof}' EXIT",
]  # fmt: skip


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever starts a process or opens a connection fails the test."""

    def refuse(*_args: Any, **_more: Any) -> None:
        raise AssertionError("a text started a process or opened a connection")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr("os.system", refuse)
    monkeypatch.setenv("PROOF_SECRET", "a-secret-that-nobody-sees")


def placed(text: str, payload: str) -> list[str]:
    """The payload behind the first number of a text, on a line of its own before and after it, and as its end."""
    index = next((index for index, each in enumerate(text) if each.isdigit() and text[index - 1] in " =:"), len(text))
    first, _, rest = text.partition("\n")
    return [
        text[:index] + payload + text[index:], f"{first}\n{payload}\n{rest}", f"{text}\n{payload}\n",
        f"{text.rstrip()} {payload}",
    ]  # fmt: skip


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("title", TITLES)
def test_nothing_is_run_read_or_fetched(title: str, tmp_path: Path) -> None:
    proof, secret = tmp_path / "proof", tmp_path / "secret.sh"
    secret.write_text("NUM_LAYERS=31337\nnum_layers: 31337\n")
    example = documented_example(title)
    for payload in PAYLOADS:
        inside = payload.format(proof=proof, secret=secret)
        for text in placed(example, inside):
            for format_ in ("auto", title.split(maxsplit=1)[0]):
                imported = import_config(ConfigSource.model_validate({"text": text, "format": format_}))

                assert imported.outcome in {"ok", "incomplete", "invalid"}
                assert "31337" not in str(imported)
                assert "a-secret-that-nobody-sees" not in str(imported)
    assert not proof.exists()


BOMBS: dict[str, Callable[[int], str]] = {
    "closed brackets": lambda size: "[]" * (size // 2),
    "aliases": lambda _: "\n".join(
        ["a0: &a0 [x,x,x]", *(f"a{n}: &a{n} [*a{n - 1},*a{n - 1},*a{n - 1}]" for n in range(1, 40))]
    ),
    "merges": lambda _: "\n".join(
        ["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{<<: *a{n - 1}, y{n}: *a{n - 1}, z{n}: *a{n - 1}}}" for n in range(1, 60))]
    ),
    "doubling": lambda _: "X=aaaaaaaa\n" + "X=$X$X\n" * 200 + "torchrun pretrain_gpt.py --num-layers $X\n",
    "braces of a range": lambda _: "torchrun pretrain_gpt.py --num-layers {1..99999999}\n",
    "a long list": lambda _: "torchrun pretrain_gpt.py --num-layers 4 --moe-layer-freq [1]*999999 --num-experts 8\n",
    "a long layout": lambda _: (
        "torchrun pretrain_gpt.py --num-layers 4 --pipeline-model-parallel-layout (t*999999)*9\n"
    ),
    "dots": lambda size: "a." * (size // 2) + "b = 1\n",
    "heads": lambda size: "[a]\n" * (size // 4),
    "references": lambda size: "a: ${a}\n" * (size // 8),
    "nested references": lambda size: "a: " + "${" * (size // 2),
    "here-documents": lambda size: "cat <<A\n" * (size // 8),
    "signs": lambda size: "\u2028\ufeff\u202e" * (size // 9),
}


@pytest.mark.parametrize("title", TITLES)
def test_a_bomb_behind_a_config_is_answered_in_time_and_in_few_words(title: str) -> None:
    """5 MiB of each kind are tried with every format elsewhere; these are what few letters can stand for."""
    for bomb in BOMBS.values():
        text = f"{documented_example(title)}\n{bomb(200_000)}"
        source = ConfigSource.model_validate({"text": text, "format": title.split(maxsplit=1)[0]})
        start = time.process_time()

        imported = import_config(source)

        assert time.process_time() - start < SECONDS
        assert len(str(imported)) < 1_000_000


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "a/../../b", "C:\\a", "\\\\host\\a", "a\x00b", "..", ""])
def test_files_outside_of_the_text_s_own_folder_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        ConfigSource(text="a", files={name: "b"})


def test_bytes_that_are_no_utf_8_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    for body in (b"\xff\xfe", b'{"source": {"text": "\xc3\x28"}}', b"\x80" * 1000):
        with pytest.raises(ValidationError):
            ConfigSource.model_validate_json(body)
    with pytest.raises(ValidationError):
        ConfigSource(text="num_layers: \ud800")


SHORT = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4"
# What fuzzing found: each of these once ended a reader, or its bound, instead of an answer.
FOUND = {
    "a pattern shorter than the layers": ("megatron", f"{SHORT} --moe-layer-freq [1]*3 --num-experts 8"),
    "an empty text as a number": ("auto", "base_model: gpt2\nmicro_batch_size: !!int ''\n"),
    "an empty text as a date": ("auto", "base_model: gpt2\nmicro_batch_size: !!timestamp ''\n"),
    "fewer pods than none": (
        "kubernetes", json.dumps({
            "apiVersion": "batch/v1", "kind": "Job", "spec": {"parallelism": -1, "completions": -1, "template": {
                "spec": {"containers": [{"command": ["torchrun", "pretrain_gpt.py", "--num-layers", "4"],
                                         "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}},
        }),
    ),
    "the script's name with a zero too many": ("megatron", "torchrun pretrain_gpt.py --num-layers $00 ${000}\n"),
    "an alias below itself, sixty levels down": (
        "nemo", "\n".join(["a0: &a0 x", *(f"a{n}: &a{n} {'[' * 40}*a{n - 1}{']' * 40}" for n in range(1, 60))]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_what_fuzzing_found_is_an_answer_like_any_other(name: str) -> None:
    format_, text = FOUND[name]

    imported = import_config(ConfigSource.model_validate({"text": text, "format": format_}))

    assert imported.outcome == "invalid" or imported.findings.missing
