from typing import Literal

SearchRequestStagesType0Item = Literal["account_for", "even", "first_last", "layout"]

SEARCH_REQUEST_STAGES_TYPE_0_ITEM_VALUES: set[SearchRequestStagesType0Item] = {
    "account_for",
    "even",
    "first_last",
    "layout",
}


def check_search_request_stages_type_0_item(value: str) -> SearchRequestStagesType0Item:
    if value in SEARCH_REQUEST_STAGES_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_STAGES_TYPE_0_ITEM_VALUES!r}"
    )
