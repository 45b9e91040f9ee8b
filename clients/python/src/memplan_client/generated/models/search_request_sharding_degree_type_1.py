from typing import Literal

SearchRequestShardingDegreeType1 = Literal["any", "usual"]

SEARCH_REQUEST_SHARDING_DEGREE_TYPE_1_VALUES: set[SearchRequestShardingDegreeType1] = {
    "any",
    "usual",
}


def check_search_request_sharding_degree_type_1(
    value: str,
) -> SearchRequestShardingDegreeType1:
    if value in SEARCH_REQUEST_SHARDING_DEGREE_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_SHARDING_DEGREE_TYPE_1_VALUES!r}"
    )
