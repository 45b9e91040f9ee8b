from typing import Literal

SearchRequestOptimizerOffloadType1 = Literal["any", "usual"]

SEARCH_REQUEST_OPTIMIZER_OFFLOAD_TYPE_1_VALUES: set[
    SearchRequestOptimizerOffloadType1
] = {
    "any",
    "usual",
}


def check_search_request_optimizer_offload_type_1(
    value: str,
) -> SearchRequestOptimizerOffloadType1:
    if value in SEARCH_REQUEST_OPTIMIZER_OFFLOAD_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_OPTIMIZER_OFFLOAD_TYPE_1_VALUES!r}"
    )
