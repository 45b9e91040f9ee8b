from typing import Literal

SearchRequestStagesType1 = Literal["any", "usual"]

SEARCH_REQUEST_STAGES_TYPE_1_VALUES: set[SearchRequestStagesType1] = {
    "any",
    "usual",
}


def check_search_request_stages_type_1(value: str) -> SearchRequestStagesType1:
    if value in SEARCH_REQUEST_STAGES_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_STAGES_TYPE_1_VALUES!r}"
    )
