from typing import Literal

SearchRequestScheduleType1 = Literal["any", "usual"]

SEARCH_REQUEST_SCHEDULE_TYPE_1_VALUES: set[SearchRequestScheduleType1] = {
    "any",
    "usual",
}


def check_search_request_schedule_type_1(value: str) -> SearchRequestScheduleType1:
    if value in SEARCH_REQUEST_SCHEDULE_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_SCHEDULE_TYPE_1_VALUES!r}"
    )
