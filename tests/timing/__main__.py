"""`make timing`: the page that shows step times against timed runs."""

from tests.timing.page import write

write()
