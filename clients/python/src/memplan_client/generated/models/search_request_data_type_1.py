from typing import Literal

SearchRequestDataType1 = Literal["any", "usual"]

SEARCH_REQUEST_DATA_TYPE_1_VALUES: set[SearchRequestDataType1] = {
    "any",
    "usual",
}


def check_search_request_data_type_1(value: str) -> SearchRequestDataType1:
    if value in SEARCH_REQUEST_DATA_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_DATA_TYPE_1_VALUES!r}"
    )
