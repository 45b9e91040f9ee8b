from typing import Literal

SearchRequestOptimizerOffloadType0ItemType0 = Literal["cpu", "none"]

SEARCH_REQUEST_OPTIMIZER_OFFLOAD_TYPE_0_ITEM_TYPE_0_VALUES: set[
    SearchRequestOptimizerOffloadType0ItemType0
] = {
    "cpu",
    "none",
}


def check_search_request_optimizer_offload_type_0_item_type_0(
    value: str,
) -> SearchRequestOptimizerOffloadType0ItemType0:
    if value in SEARCH_REQUEST_OPTIMIZER_OFFLOAD_TYPE_0_ITEM_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_OPTIMIZER_OFFLOAD_TYPE_0_ITEM_TYPE_0_VALUES!r}"
    )
