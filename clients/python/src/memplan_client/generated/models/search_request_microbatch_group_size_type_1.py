from typing import Literal

SearchRequestMicrobatchGroupSizeType1 = Literal["any", "usual"]

SEARCH_REQUEST_MICROBATCH_GROUP_SIZE_TYPE_1_VALUES: set[
    SearchRequestMicrobatchGroupSizeType1
] = {
    "any",
    "usual",
}


def check_search_request_microbatch_group_size_type_1(
    value: str,
) -> SearchRequestMicrobatchGroupSizeType1:
    if value in SEARCH_REQUEST_MICROBATCH_GROUP_SIZE_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_MICROBATCH_GROUP_SIZE_TYPE_1_VALUES!r}"
    )
