from typing import Literal

SearchRequestMicroType1 = Literal["any", "usual"]

SEARCH_REQUEST_MICRO_TYPE_1_VALUES: set[SearchRequestMicroType1] = {
    "any",
    "usual",
}


def check_search_request_micro_type_1(value: str) -> SearchRequestMicroType1:
    if value in SEARCH_REQUEST_MICRO_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_MICRO_TYPE_1_VALUES!r}"
    )
