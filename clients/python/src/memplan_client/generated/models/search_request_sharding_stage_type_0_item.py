from typing import Literal

SearchRequestShardingStageType0Item = Literal[0, 1]

SEARCH_REQUEST_SHARDING_STAGE_TYPE_0_ITEM_VALUES: set[
    SearchRequestShardingStageType0Item
] = {
    0,
    1,
}


def check_search_request_sharding_stage_type_0_item(
    value: int,
) -> SearchRequestShardingStageType0Item:
    if value in SEARCH_REQUEST_SHARDING_STAGE_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_SHARDING_STAGE_TYPE_0_ITEM_VALUES!r}"
    )
