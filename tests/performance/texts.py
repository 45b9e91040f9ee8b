"""What reading a config costs: 100 KB of ordinary text in each format, and the largest body that a request may have."""

import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median

from service.formats.source import LARGEST_TEXT, ConfigSource
from service.usecases.imports import import_config
from tests.formats.documented import documented_example

SIZE = 100_000
_SETTING = 'export SETTING_{0}="${{SETTING_{0}:-some value of ordinary length}}"  # note {0}\n'
_KEYS = "extra_{0}:\n  name: value of ordinary length {0}\n  number: {0}\n  list: [a, b, c]\n"
_TABLE = '\n[extra_{0}]\nname = "value of ordinary length {0}"\nnumber = {0}\nlist = ["a", "b"]\n'
_MANIFEST = (
    "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: map-{0}\n  labels: {{app: a, tier: b}}\ndata:\n"
    "  key: value of ordinary length {0}\n  run.sh: |\n    export A={0}\n    echo hello there world\n"
)


def _repeated(template: str, size: int) -> str:
    return "".join(template.format(index) for index in range(size // len(template)))


def _before(template: str, format_: str, size: int) -> str:
    """A script whose first lines are many more; its first line stays first."""
    first, _, rest = documented_example(format_).partition("\n")
    return (
        f"{first}\n{_repeated(template, size)}{rest}"
        if first.startswith("#!")
        else (_repeated(template, size) + f"{first}\n{rest}")
    )


def _after(template: str, format_: str, size: int) -> str:
    return documented_example(format_) + _repeated(template, size)


def _object(format_: str, size: int) -> str:
    document = json.loads(documented_example(format_))
    document["extra"] = {
        f"key_{index}": {"name": f"value of ordinary length {index}", "number": index, "list": ["a", "b"]}
        for index in range(size // 140)
    }
    return json.dumps(document, indent=1)


def _overrides(size: int) -> str:
    more = " \\\n".join(f"  +extra.group_{index}.name=value_{index}" for index in range(size // 36))
    return f"{documented_example('hydra').rstrip()} \\\n{more}\n"


TEXTS: Mapping[str, Callable[[int], str]] = {
    "megatron": partial(_before, _SETTING, "megatron"),
    "torch_fsdp": partial(_before, _SETTING, "torch_fsdp"),
    "megatron in slurm": partial(_before, _SETTING, "megatron in slurm"),
    "megatron in kubernetes": partial(_after, _MANIFEST, "megatron in kubernetes"),
    "huggingface": partial(_object, "huggingface"),
    "deepspeed": partial(_object, "deepspeed"),
    "torchtitan": partial(_after, _TABLE, "torchtitan"),
    **{
        name: partial(_after, _KEYS, name)
        for name in ("accelerate", "nemo", "nanotron", "torchtune", "axolotl", "llamafactory")
    },
    "hydra": _overrides,
}


def _seconds(text: str, rounds: int) -> tuple[float, str]:
    """Processor seconds of an import, and its outcome or why it was refused."""
    source, spent = ConfigSource(text=text), []
    for _ in range(rounds):
        start = time.process_time()
        imported = import_config(source)
        spent.append(time.process_time() - start)
    refused = [each.code for each in imported.findings.errors if each.code in {"too_large", "too_deep", "syntax"}]
    return median(spent), refused[0] if refused else imported.outcome


def main() -> None:
    """Print the cost for each format."""
    print("Reading configs, processor time")
    print(f"{'format':<24} {'100 KB':>8} {'5 MiB':>8}  the largest is")
    for name, text in TEXTS.items():
        ordinary, _ = _seconds(text(SIZE), 5)
        # The numbers in the lines make them longer than their template; half a table would be no TOML.
        largest, outcome = _seconds(text(LARGEST_TEXT * 9 // 10)[:LARGEST_TEXT], 1)
        print(f"{name:<24} {ordinary * 1000:>5.0f} ms {largest * 1000:>5.0f} ms  {outcome}")
