"""Every published config, in every style, is read right, and the page says so."""

from tests.formats.pass_rate import PAGE, results, table


def test_every_text_is_read_right_and_the_page_has_the_rates() -> None:
    found = results()

    assert [item for item, passed in found if not all(passed)] == []
    assert table(found) in PAGE.read_text(), "run python -m tests.formats.pass_rate"
