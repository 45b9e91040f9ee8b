"""`python -m tests.formats.pass_rate`: how much of the published configs is read right; rewrites the table of the page.

Every item is written in each of its styles. A text passes when its facts are those of the item, its findings hold the
item's, and exactly the facts that no text states are missing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.usecases.imports import import_config
from tests.formats import (
    config_corpus,
    corpus,
    test_config_corpus,
    test_huggingface,
    test_hydra,
    test_kubernetes,
    test_megatron_corpus,
    test_slurm,
)
from tests.formats.corpus import items
from tests.formats.rendering import STYLES, directives, launch_line

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
HEAD = "| published configs | items | texts | facts | findings | missing facts |\n|---|---|---|---|---|---|\n"
_TRAINING = {"micro", "sequence_length", "world_size"}
# What a text in which a value is masked, or a program that is no LLM's training, cannot be asked for.
_OF_THE_RUN = {"compute", "fp8", "granularity", "seq_length"}

Item = Mapping[str, Any]
Result = tuple[str, tuple[bool, bool, bool]]


@dataclass(frozen=True)
class Case:
    """One text of an item, what is compared, and what is missing in it."""

    item: Item
    source: ConfigSource
    facts: Callable[[Imported], Mapping[str, Any]]
    expected: Mapping[str, Any]
    missing: set[str]
    not_said: frozenset[str] = frozenset()

    def passes(self) -> tuple[bool, bool, bool]:
        """Whether facts, findings and missing facts are right."""
        imported = import_config(self.source)
        found = self.facts(imported) if imported.job is not None else {}
        compared = {key: value for key, value in self.expected.items() if key in found}
        wanted = {each["code"] for each in self.item["expected"]["diagnostics"]} - self.not_said
        return (
            all(found[key] == value for key, value in compared.items()),
            wanted <= {each.code for each in imported.findings.diagnostics},
            {each.fact for each in imported.findings.missing} == self.missing,
        )


def _scripts() -> Iterator[Case]:
    for item in test_megatron_corpus.SCRIPTS:
        left_out = test_megatron_corpus.NOT_READ.get(item["id"], set())
        wanted = {key: value for key, value in corpus.expected(item) if key not in left_out}
        prelude = test_megatron_corpus.PRELUDES.get(item["id"], [])
        for style in STYLES.values():
            head = ["#!/bin/bash", *directives(item.get("sbatch", {})), *prelude]
            script = style(head, launch_line(item["launcher"]), item["script_args"])
            source = ConfigSource(text=script.text, argv=list(script.argv))
            yield Case(item, source, corpus.facts, wanted, test_megatron_corpus.MISSING[item["id"]])


def _argument_files() -> Iterator[Case]:
    for item in items("megatron_args_yaml"):
        left_out = test_megatron_corpus.NOT_READ.get(item["id"], set())
        wanted = {key: value for key, value in corpus.expected(item) if key not in left_out}
        for style in test_config_corpus.YAML:
            source = ConfigSource(text=style(item["content"]))
            yield Case(item, source, corpus.facts, wanted, test_megatron_corpus.MISSING[item["id"]])


def _models() -> Iterator[Case]:
    for item in items("hf_config"):
        left_out = _OF_THE_RUN | test_huggingface.NOT_READ.get(item["id"], set())
        wanted = {key: value for key, value in corpus.expected(item) if key not in left_out}
        for style in test_config_corpus.STYLES["deepspeed_json"]:
            yield Case(item, ConfigSource(text=style(item["content"])), corpus.facts, wanted, _TRAINING)


def _files() -> Iterator[Case]:
    for folder, styles in test_config_corpus.STYLES.items():
        for item in items(folder):
            left_out = test_config_corpus.NOT_READ.get(item["id"], set())
            wanted = {key: value for key, value in config_corpus.expected(item) if key not in left_out}
            missing = test_config_corpus.MISSING[item["id"]]
            not_said = frozenset(test_config_corpus.NOT_SAID.get(item["id"], set()))
            for style in styles:
                source = ConfigSource(text=style(item["content"]))
                yield Case(item, source, config_corpus.facts, wanted, missing, not_said)


def _overrides() -> Iterator[Case]:
    item = test_hydra.GRPO
    wanted = dict(config_corpus.expected(item))
    for style in (test_hydra.continued, test_hydra.quoted, test_hydra.arguments):
        source = style(test_hydra.words()).model_copy(update={"format": "auto"})
        yield Case(item, source, config_corpus.facts, wanted, set())


def _batch_scripts() -> Iterator[Case]:
    recipe, titan = (test_slurm.PUBLISHED[name] for name in ("handbook_zephyr_7b_sft", "aws_torchtitan_llama3_8b"))
    wanted = {
        key: test_slurm.GRANULARITIES.get(value, value) if key == "granularity" else value
        for key, value in config_corpus.expected(recipe)
    }
    for style in STYLES:
        source = test_slurm.batch_script(recipe, style, [["--config", "config_full.yaml"]])
        yield Case(recipe, source, config_corpus.facts, wanted, set())
        named = test_slurm.batch_script(titan, style, titan["script_args"])
        yield Case(titan, named, config_corpus.facts, {}, {"llama3_8b.toml"})


def _manifests() -> Iterator[Case]:
    for name, item in test_kubernetes.MASKED.items():
        argv: list[str] = []
        if "launcher" in item:
            launcher, script = (list(chain(*each)) for each in (item["launcher"]["args"], item["script_args"]))
            argv = ["torchrun", *launcher, "--no-python", "bash", item["launcher"]["entrypoint"], *script]
        stated = item["expected"]["model"] is not None
        filled = {key: str(value) for key, value in item.get("substitutions_documented", {}).items()}
        for style in (*test_config_corpus.YAML, test_config_corpus.indented_json):
            source = ConfigSource(text=style(item["content"]), argv=argv)
            yield Case(item, source, corpus.facts, {}, test_kubernetes.CORPUS[name])
            if stated and filled:
                missing = test_kubernetes.CORPUS[name] - {"world_size"}
                documented = source.model_copy(update={"env": filled})
                codes = frozenset({"placeholders_unresolved"})
                yield Case(item, documented, corpus.facts, dict(corpus.expected(item)), missing, codes)


def cases() -> Iterator[Case]:
    """Every text of every item."""
    for each in (_scripts, _argument_files, _models, _files, _overrides, _batch_scripts, _manifests):
        yield from each()


def results() -> list[Result]:
    """Every text's item, with whether facts, findings and missing facts are right."""
    return [(case.item["id"], case.passes()) for case in cases()]


def table(found: Sequence[Result]) -> str:
    """The rates for each folder of the corpus."""
    rows: dict[str, list[Result]] = {}
    for each in found:
        rows.setdefault(each[0].partition("/")[0], []).append(each)
    lines = [_row(name, rows[name]) for name in sorted(rows)]
    return HEAD + "".join([*lines, _row("**all**", found)])


def _row(name: str, found: Sequence[Result]) -> str:
    rates = " | ".join(str(sum(passed[index] for _, passed in found)) for index in range(3))
    return f"| {name} | {len({each for each, _ in found})} | {len(found)} | {rates} |\n"


def main() -> None:
    """Rewrite the page's table."""
    page, new = PAGE.read_text(), table(results())
    before, _, rest = page.partition(HEAD)
    after = rest[rest.index("\n\n") + 1 :]
    PAGE.write_text(f"{before}{new}{after}")


if __name__ == "__main__":
    main()
