"""Ways of writing that change nothing: order, dashes, equals signs, quotes, comments, blank lines."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from service.formats.registry import import_source
from service.formats.source import ConfigSource
from service.job.schema import Job

FLAGS: Sequence[tuple[str, ...]] = (
    ("--num-layers", "32"),
    ("--hidden-size", "4096"),
    ("--ffn-hidden-size", "14336"),
    ("--num-attention-heads", "32"),
    ("--group-query-attention",),
    ("--num-query-groups", "8"),
    ("--seq-length", "8192"),
    ("--max-position-embeddings", "8192"),
    ("--vocab-size", "128256"),
    ("--micro-batch-size", "1"),
    ("--global-batch-size", "512"),
    ("--tensor-model-parallel-size", "4"),
    ("--pipeline-model-parallel-size", "2"),
    ("--num-layers-per-virtual-pipeline-stage", "4"),
    ("--sequence-parallel",),
    ("--use-distributed-optimizer",),
    ("--swiglu",),
    ("--bf16",),
    ("--untie-embeddings-and-output-weights",),
    ("--disable-bias-linear",),
    ("--attention-dropout", "0.0"),
    ("--recompute-granularity", "selective"),
    ("--recompute-modules", "core_attn", "mlp"),
    ("--num-experts", "8"),
    ("--moe-layer-freq", "([0]*2+[1]*30)"),
)
COMMENTS = st.sampled_from(["", "# --num-layers 3", "#", "   # 64 GPUs (h100)", '\t# it\'s `fine` "here" $(no)'])


@dataclass(frozen=True)
class Manner:
    """How one flag is written."""

    underscores: bool
    equals: bool
    quote: str
    number_as_float: bool
    comment: str
    blank_lines: int

    def written(self, flag: tuple[str, ...]) -> str:
        name, *values = flag
        name = f"--{name[2:].replace('-', '_')}" if self.underscores else name
        quote = self.quote or ("'" if any(not each.replace(".", "").isalnum() for each in values) else "")
        values = [f"{each}.0" if self.number_as_float and each.isdigit() else each for each in values]
        quoted = [f"{quote}{each}{quote}" for each in values]
        return f"{name}={quoted[0]}" if self.equals and len(quoted) == 1 else " ".join([name, *quoted])


MANNERS = st.builds(
    Manner,
    underscores=st.booleans(),
    equals=st.booleans(),
    quote=st.sampled_from(["", "'", '"']),
    number_as_float=st.booleans(),
    comment=COMMENTS,
    blank_lines=st.integers(0, 2),
)
WRITINGS = st.permutations(FLAGS).flatmap(
    lambda flags: st.tuples(*(st.tuples(st.just(flag), MANNERS) for flag in flags)).map(list)
)
Writing = list[tuple[tuple[str, ...], Manner]]


def read(text: str) -> Job:
    imported = import_source(ConfigSource(text=text, format="megatron"))
    assert imported.outcome == "ok", imported.findings
    assert imported.job is not None
    return imported.job


LAUNCH = "torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py"
REFERENCE = read(f"{LAUNCH} {' '.join(' '.join(f'{word!r}' for word in flag) for flag in FLAGS)}")


@given(WRITINGS)
@settings(max_examples=60, deadline=None)
def test_an_array_reads_the_same_however_it_is_written(writing: Writing) -> None:
    lines = [f"  {manner.written(flag)} {manner.comment}" + "\n" * manner.blank_lines for flag, manner in writing]

    assert read("ARGS=(\n" + "\n".join(lines) + f"\n)\n{LAUNCH} ${{ARGS[@]}}") == REFERENCE


@given(WRITINGS)
@settings(max_examples=60, deadline=None)
def test_a_continued_command_reads_the_same_however_it_is_written(writing: Writing) -> None:
    lines: list[str] = [LAUNCH]
    for flag, manner in writing:
        lines += [manner.comment.strip()] if manner.comment.strip() else []
        lines += ["\\"] * manner.blank_lines + [manner.written(flag)]

    text = "\n".join(each if each == "\\" or each.startswith("#") else f"{each} \\" for each in lines)
    assert read(text.removesuffix("\\")) == REFERENCE


@given(WRITINGS)
@settings(max_examples=30, deadline=None)
def test_an_argument_list_reads_the_same_however_it_is_written(writing: Writing) -> None:
    argv = [word.replace("'", "").replace('"', "") for flag, manner in writing for word in manner.written(flag).split()]

    imported = import_source(ConfigSource(argv=argv, world_size=64))

    assert imported.job == REFERENCE


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_taking_a_required_flag_away_never_yields_a_silent_number(data: st.DataObject) -> None:
    required = {
        "--num-layers": "num_hidden_layers",
        "--hidden-size": "hidden_size",
        "--num-attention-heads": "num_attention_heads",
        "--seq-length": "sequence_length",
        "--micro-batch-size": "micro",
        "--vocab-size": "vocab_size",
    }
    gone = data.draw(st.sampled_from(sorted(required)))
    argv = [word for flag in FLAGS if flag[0] != gone for word in flag]

    imported = import_source(ConfigSource(argv=argv, world_size=64))

    assert imported.outcome != "ok"
    assert required[gone] in {each.fact for each in imported.findings.missing}
