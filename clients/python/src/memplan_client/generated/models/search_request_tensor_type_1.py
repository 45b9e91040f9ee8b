from typing import Literal

SearchRequestTensorType1 = Literal["any", "usual"]

SEARCH_REQUEST_TENSOR_TYPE_1_VALUES: set[SearchRequestTensorType1] = {
    "any",
    "usual",
}


def check_search_request_tensor_type_1(value: str) -> SearchRequestTensorType1:
    if value in SEARCH_REQUEST_TENSOR_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_TENSOR_TYPE_1_VALUES!r}"
    )
