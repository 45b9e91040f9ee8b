from typing import Literal

SearchRequestExpertType1 = Literal["any", "usual"]

SEARCH_REQUEST_EXPERT_TYPE_1_VALUES: set[SearchRequestExpertType1] = {
    "any",
    "usual",
}


def check_search_request_expert_type_1(value: str) -> SearchRequestExpertType1:
    if value in SEARCH_REQUEST_EXPERT_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_EXPERT_TYPE_1_VALUES!r}"
    )
