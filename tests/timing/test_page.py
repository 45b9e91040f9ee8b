"""`docs/planner.md` is what the command yields now."""

from tests.timing.page import PAGE, page, without_date


def test_the_page_is_up_to_date() -> None:
    assert without_date(PAGE.read_text("utf-8")) == without_date(page("today")), "run `make timing`"
