"""Dates in the text of a version: the first day of what it leaves out, or all the days that it leaves open."""

import pytest

from service.catalog.versions import Date, stated_date, stated_period


@pytest.mark.parametrize(
    ("version", "first", "last"),
    [
        ("torchtitan-2024-06-06 (commit 7cf41bb)", (2024, 6, 6), (2024, 6, 6)),
        ("LitGPT commit 8641822 (2023-10)", (2023, 10, 1), (2023, 10, 31)),
        ("torchtitan-2025-10/11", (2025, 10, 1), (2025, 10, 31)),
        ("ms-swift 2024", (2024, 1, 1), (2024, 12, 31)),
        ("LitGPT 2024-25", (2024, 1, 1), (2025, 12, 31)),
        ("torchtune main (2025/26 README)", (2025, 1, 1), (2026, 12, 31)),
    ],
)
def test_the_days_that_a_version_leaves_open(version: str, first: Date, last: Date) -> None:
    assert stated_period(version) == (first, last)


def test_a_version_without_a_date() -> None:
    assert stated_date("core 0.10") is None
    assert stated_period("core 0.10") is None
    assert stated_period(None) is None
