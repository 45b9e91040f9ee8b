"""What frameworks do otherwise is data: no formula asks for a framework's name."""

from pathlib import Path

import pytest

from service.calculator.habits import Habits
from service.catalog.profiles import load_profiles, profile_of

CALCULATOR = Path(__file__).parents[2] / "service" / "calculator"


def test_only_the_choice_of_an_engine_asks_for_its_name() -> None:
    asking = [each for each in CALCULATOR.rglob("*.py") if ".framework" in each.read_text("utf-8")]
    assert asking == [CALCULATOR / "states" / "dispatch.py"]


@pytest.mark.parametrize("name", load_profiles())
def test_every_profile_has_the_habits_of_an_engine(name: str) -> None:
    assert profile_of(name).habits != Habits() or name == "deepspeed"


def test_a_fork_has_the_habits_of_its_engine_and_its_own() -> None:
    forked = profile_of("megatron-core", version="Aleph Alpha in-house 2023").habits
    assert forked.output_copied
    assert forked.gradients_in_buffer
    assert profile_of("fsdp2", version="FSDP1").habits == profile_of("fsdp1").habits
