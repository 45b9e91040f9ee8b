from typing import Literal

SearchRequestSequenceType1 = Literal["any", "usual"]

SEARCH_REQUEST_SEQUENCE_TYPE_1_VALUES: set[SearchRequestSequenceType1] = {
    "any",
    "usual",
}


def check_search_request_sequence_type_1(value: str) -> SearchRequestSequenceType1:
    if value in SEARCH_REQUEST_SEQUENCE_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_SEQUENCE_TYPE_1_VALUES!r}"
    )
