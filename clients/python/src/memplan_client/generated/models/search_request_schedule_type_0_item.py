from typing import Literal

SearchRequestScheduleType0Item = Literal[
    "1f1b",
    "dualpipe",
    "dualpipev",
    "gpipe",
    "interleaved",
    "interleaved_zb",
    "looped_bfs",
    "v_half",
    "v_min",
    "zb_h1",
    "zb_h2",
    "zbv",
]

SEARCH_REQUEST_SCHEDULE_TYPE_0_ITEM_VALUES: set[SearchRequestScheduleType0Item] = {
    "1f1b",
    "dualpipe",
    "dualpipev",
    "gpipe",
    "interleaved",
    "interleaved_zb",
    "looped_bfs",
    "v_half",
    "v_min",
    "zb_h1",
    "zb_h2",
    "zbv",
}


def check_search_request_schedule_type_0_item(
    value: str,
) -> SearchRequestScheduleType0Item:
    if value in SEARCH_REQUEST_SCHEDULE_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_SCHEDULE_TYPE_0_ITEM_VALUES!r}"
    )
