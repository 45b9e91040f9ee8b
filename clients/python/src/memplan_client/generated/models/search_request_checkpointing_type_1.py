from typing import Literal

SearchRequestCheckpointingType1 = Literal["any", "usual"]

SEARCH_REQUEST_CHECKPOINTING_TYPE_1_VALUES: set[SearchRequestCheckpointingType1] = {
    "any",
    "usual",
}


def check_search_request_checkpointing_type_1(
    value: str,
) -> SearchRequestCheckpointingType1:
    if value in SEARCH_REQUEST_CHECKPOINTING_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_CHECKPOINTING_TYPE_1_VALUES!r}"
    )
