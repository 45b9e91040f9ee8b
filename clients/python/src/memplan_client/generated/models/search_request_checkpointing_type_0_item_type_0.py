from typing import Literal

SearchRequestCheckpointingType0ItemType0 = Literal["full", "none", "selective"]

SEARCH_REQUEST_CHECKPOINTING_TYPE_0_ITEM_TYPE_0_VALUES: set[
    SearchRequestCheckpointingType0ItemType0
] = {
    "full",
    "none",
    "selective",
}


def check_search_request_checkpointing_type_0_item_type_0(
    value: str,
) -> SearchRequestCheckpointingType0ItemType0:
    if value in SEARCH_REQUEST_CHECKPOINTING_TYPE_0_ITEM_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_CHECKPOINTING_TYPE_0_ITEM_TYPE_0_VALUES!r}"
    )
