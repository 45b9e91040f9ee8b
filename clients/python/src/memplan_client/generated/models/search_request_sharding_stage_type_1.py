from typing import Literal

SearchRequestShardingStageType1 = Literal["any", "usual"]

SEARCH_REQUEST_SHARDING_STAGE_TYPE_1_VALUES: set[SearchRequestShardingStageType1] = {
    "any",
    "usual",
}


def check_search_request_sharding_stage_type_1(
    value: str,
) -> SearchRequestShardingStageType1:
    if value in SEARCH_REQUEST_SHARDING_STAGE_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_SHARDING_STAGE_TYPE_1_VALUES!r}"
    )
