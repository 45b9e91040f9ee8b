"""Framework profiles: which stated versions are the one whose source was read."""

import pytest

from service.catalog.profiles import load_profiles, profile_of


@pytest.mark.parametrize("version", ["d98e8a64", "d98e8a64 (dev container)", " d98e8a64 ", "d98e8a64 (2026-08-22)"])
def test_the_version_that_was_read_is_covered(version: str) -> None:
    assert load_profiles()["megatron-core"].covers(version)


@pytest.mark.parametrize("version", ["", " ", "core 0.13.0", "d98e8a64 (LTS container)", "23e00ed0963c", "98e8a64"])
def test_another_version_or_container_is_not_covered(version: str) -> None:
    assert not load_profiles()["megatron-core"].covers(version)


@pytest.mark.parametrize(("framework", "name"), [("megatron-core", "nanotron"), ("fsdp2", "FSDP1"), ("ddp", "torch")])
def test_a_name_is_no_version(framework: str, name: str) -> None:
    assert not profile_of(framework, version=name).covers(name)


def test_a_number_of_the_version_is_covered() -> None:
    assert load_profiles()["ddp"].covers("2.13")
    assert load_profiles()["fsdp2"].covers("b5bcd76c")


def test_a_fork_is_known_by_all_its_words() -> None:
    assert profile_of("fsdp2", version="LitGPT 2023-10 FSDP1").no_sync
    assert not profile_of("fsdp2", version="LitGPT 2025").no_sync
    assert profile_of("deepspeed", version="InternEvo v0.2.1").implementation == "loop"
