"""What a policy makes of a verdict."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.calculator.units import GIB
from service.catalog.devices import built_in
from service.usecases.estimates import Verdict
from service.usecases.policies import Mode, Policy, QueuePolicy, Ruled, Ruling, applied
from service.usecases.targets import Need, Target
from service.usecases.verdicts import VerdictAnswer

GRAVITY: list[Ruling] = ["admit", "warn", "refuse"]
VERDICTS: list[Verdict] = ["fits", "tight", "does_not_fit", "unknown"]
MODES: list[Mode] = ["enforce", "warn", "shadow", "off"]


def ruled(policy: Policy, verdict: Verdict = "fits", shift_bytes: int = 0, world_size: int = 8) -> Ruled:
    need = Need(verdict, "", 0, 60 * GIB, 55 * GIB, 65 * GIB, 80 * GIB, shift_bytes)
    answer = VerdictAnswer(verdict=verdict, reason="why", target=Target("h100-sxm-80gb", world_size), need=need)
    stated = QueuePolicy("prod", policy, datetime(2026, 11, 29, tzinfo=UTC))
    return applied(stated, built_in(), answer)[1]


def test_a_margin_is_of_what_is_expected_as_in_the_answer() -> None:
    policy = Policy(mode="enforce", margin_bytes=10 * GIB)
    assert ruled(policy, shift_bytes=10 * GIB).ruling == "admit"
    assert ruled(policy, shift_bytes=10 * GIB + 1).ruling == "refuse"
    assert ruled(Policy(mode="enforce", margin_fraction=0.25)).ruling == "admit"
    assert ruled(Policy(mode="enforce", margin_fraction=0.26)).ruling == "refuse"


@pytest.mark.parametrize(("verdict", "ruling"), [("tight", "warn"), ("unknown", "warn"), ("does_not_fit", "refuse")])
def test_unless_something_else_is_stated_only_what_does_not_fit_is_refused(verdict: Verdict, ruling: Ruling) -> None:
    assert ruled(Policy(mode="enforce"), verdict).ruling == ruling


def test_an_allowed_device_that_is_no_longer_known_allows_nothing() -> None:
    assert ruled(Policy(mode="enforce", allowed_devices=("gone", "h100"))).ruling == "admit"
    found = ruled(Policy(mode="enforce", allowed_devices=("gone",)))
    assert (found.ruling, [each.rule for each in found.broken]) == ("refuse", ["device"])


@given(
    mode=st.sampled_from(MODES),
    verdict=st.sampled_from(VERDICTS),
    tight=st.sampled_from(GRAVITY),
    unknown=st.sampled_from(GRAVITY),
    margin=st.integers(0, 30),
    most=st.integers(1, 16),
)
def test_a_mode_never_makes_a_ruling_graver_and_the_rule_that_counts_is_one_of_the_gravest(
    mode: Mode, verdict: Verdict, tight: Ruling, unknown: Ruling, margin: int, most: int
) -> None:
    policy = Policy(mode=mode, tight=tight, unknown=unknown, margin_bytes=margin * GIB, max_world_size=most)
    found = ruled(policy, verdict)
    assert GRAVITY.index(found.ruling) <= GRAVITY.index(found.enforced)
    if mode == "off":
        assert (found.ruling, found.enforced, found.broken) == ("admit", "admit", ())
        return
    gravest = max((each.ruling for each in found.broken), key=GRAVITY.index, default="admit")
    assert found.enforced == gravest
    assert (None if found.first is None else found.first.ruling) == (None if gravest == "admit" else gravest)
    most_of: dict[Mode, Ruling] = {"enforce": "refuse", "warn": "warn", "shadow": "admit"}
    assert found.ruling == min(gravest, most_of[mode], key=GRAVITY.index)
