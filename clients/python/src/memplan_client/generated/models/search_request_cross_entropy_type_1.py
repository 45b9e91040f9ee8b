from typing import Literal

SearchRequestCrossEntropyType1 = Literal["any", "usual"]

SEARCH_REQUEST_CROSS_ENTROPY_TYPE_1_VALUES: set[SearchRequestCrossEntropyType1] = {
    "any",
    "usual",
}


def check_search_request_cross_entropy_type_1(
    value: str,
) -> SearchRequestCrossEntropyType1:
    if value in SEARCH_REQUEST_CROSS_ENTROPY_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_CROSS_ENTROPY_TYPE_1_VALUES!r}"
    )
