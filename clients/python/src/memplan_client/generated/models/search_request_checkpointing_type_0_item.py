from typing import Literal

SearchRequestCheckpointingType0Item = Literal["full", "none", "selective"]

SEARCH_REQUEST_CHECKPOINTING_TYPE_0_ITEM_VALUES: set[
    SearchRequestCheckpointingType0Item
] = {
    "full",
    "none",
    "selective",
}


def check_search_request_checkpointing_type_0_item(
    value: str,
) -> SearchRequestCheckpointingType0Item:
    if value in SEARCH_REQUEST_CHECKPOINTING_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_CHECKPOINTING_TYPE_0_ITEM_VALUES!r}"
    )
