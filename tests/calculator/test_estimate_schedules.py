"""Memory under every pipeline schedule (memory_model.md, section 5)."""

from typing import Any

import pytest

from service.calculator.estimate import StageEstimate, estimate
from service.calculator.ledger import Category
from service.calculator.placement import PATHS, place
from service.calculator.schedules.schedule import CHUNKS
from tests.builders import H100, LLAMA_3_8B, layout, recipe

PIPELINE = 4


def stages(schedule: str, **changes: Any) -> tuple[StageEstimate, ...]:
    virtual = CHUNKS[schedule] or 2
    placement = place(LLAMA_3_8B.layers, PIPELINE, virtual, path=PATHS.get(schedule, "loop"))
    values = {"pipeline": PIPELINE, "virtual": virtual, "schedule": schedule, "micro_batches": 16, **changes}
    return estimate(LLAMA_3_8B, layout(LLAMA_3_8B, **values, placement=placement), recipe(), H100).stages


def saved_bytes(stage: StageEstimate) -> int:
    rows = [line for line in stage.lines if line.tensor.name.startswith(("attention.", "mlp."))]
    return sum(int(line.bytes) for line in rows if line.tensor.category is Category.ACTIVATIONS)


@pytest.mark.parametrize("schedule", sorted(CHUNKS))
def test_every_schedule_is_estimated(schedule: str) -> None:
    found = stages(schedule)
    assert len(found) == PIPELINE
    copies = 2 if schedule == "dualpipe" else 1
    assert sum(stage.parameters for stage in found) == copies * 8_030_261_248


@pytest.mark.parametrize("schedule", ["zbv", "v_half", "v_min", "dualpipev"])
def test_a_v_shaped_schedule_has_its_loss_on_the_first_rank(schedule: str) -> None:
    found = stages(schedule)
    assert found[0].moments.keys() - found[-1].moments.keys() == {"loss", "head_backward", "layer_backward"}


def test_zb_h1_holds_as_many_micro_batches_on_every_rank() -> None:
    assert [stage.in_flight_microbatches for stage in stages("zb_h1")] == [4.0] * PIPELINE


def test_a_micro_batch_that_awaits_weight_gradients_holds_products_inputs_and_output_gradients() -> None:
    """Inputs h + q + h + f and output gradients (q + 2k) + h + 2f + h, two bytes each."""
    h, q, k, f, tokens, layers = 4096, 4096, 1024, 14336, 2048, 8
    waiting = saved_bytes(stages("zb_h1")[2]) - saved_bytes(stages("1f1b")[2])
    assert waiting == 2 * layers * 2 * tokens * ((2 * h + q + f) + (q + 2 * k + 2 * h + 2 * f))


def test_zb_h2_holds_nearly_twice_zb_h1() -> None:
    assert [stage.in_flight_microbatches for stage in stages("zb_h2")] == [7.0] * PIPELINE


def test_zb_v_balances_what_1f1b_holds_on_its_first_rank() -> None:
    assert [stage.in_flight_microbatches for stage in stages("zbv")] == [4.0] * PIPELINE


def test_v_min_holds_least() -> None:
    peaks = {name: max(saved_bytes(stage) for stage in stages(name)) for name in ("zbv", "v_half", "v_min")}
    assert peaks["v_min"] <= peaks["v_half"] < peaks["zbv"]


def test_looped_bfs_holds_every_micro_batch() -> None:
    assert [stage.in_flight_microbatches for stage in stages("looped_bfs")] == [16.0] * PIPELINE
