"""`docs/accuracy.md` is what the command yields now."""

from tests.accuracy.page import PAGE, page, without_date


def test_the_page_is_not_stale() -> None:
    shipped = without_date(PAGE.read_text("utf-8"))
    assert shipped == without_date(page("today")), "run `make accuracy` and commit what it writes"
