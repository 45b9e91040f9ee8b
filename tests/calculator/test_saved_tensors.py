"""What the calculator says a layer saves, against what autograd did save, to the byte."""

import json
from pathlib import Path
from typing import Any

import pytest

from service.calculator.activations.layer import layer_tensors
from service.calculator.checkpointing import stored_lines
from tests.builders import layout, recipe
from tests.calculator.saved_tensor_cases import CASES, REFUSED

DATA = Path(__file__).parents[1] / "data"
ROWS: list[dict[str, Any]] = [
    row
    for name in ("saved_tensors.json", "saved_tensors_mixers.json")
    for row in json.loads((DATA / name).read_text("utf-8"))
]


@pytest.mark.parametrize("row", [each for each in ROWS if each["name"] in CASES], ids=lambda row: row["name"])
def test_a_measured_layer(row: dict[str, Any]) -> None:
    case, dims = CASES[row["name"]], row["dims"]
    model = case.build(dims)
    spread = layout(
        model, micro_batch=dims["b"], sequence_length=dims["s"], checkpointing=case.checkpointing, micro_batches=1
    )
    lines = stored_lines(layer_tensors(model.kinds[0], model, spread, recipe(**case.recipe)), spread, [1], [1])
    blocks = tuple(case.only.split()) or ("",)
    found = {
        line.tensor.name: int(line.bytes)
        for line in lines
        if line.tensor.name.startswith(blocks) and line.tensor.name not in case.beside
    }
    assert sum(found.values()) + sum(each(dims) for each in case.artefacts) == row["per_layer_bytes"]


def test_every_measured_layer_is_a_case_or_refused() -> None:
    assert {each["name"] for each in ROWS} == set(CASES) | REFUSED


def test_the_names_of_a_layers_tensors_are_its_own() -> None:
    """A line of the ledger is found by its name."""
    for row in ROWS:
        if row["name"] in CASES:
            case = CASES[row["name"]]
            model = case.build(row["dims"])
            rows = layer_tensors(model.kinds[0], model, layout(model), recipe(**case.recipe))
            names = [each.tensor.name for each in rows if each.copies or each.cached]
            assert len(set(names)) == len(names)
