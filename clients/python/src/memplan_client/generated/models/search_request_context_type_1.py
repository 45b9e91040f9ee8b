from typing import Literal

SearchRequestContextType1 = Literal["any", "usual"]

SEARCH_REQUEST_CONTEXT_TYPE_1_VALUES: set[SearchRequestContextType1] = {
    "any",
    "usual",
}


def check_search_request_context_type_1(value: str) -> SearchRequestContextType1:
    if value in SEARCH_REQUEST_CONTEXT_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_CONTEXT_TYPE_1_VALUES!r}"
    )
