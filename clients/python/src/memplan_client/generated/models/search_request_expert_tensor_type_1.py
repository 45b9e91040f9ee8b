from typing import Literal

SearchRequestExpertTensorType1 = Literal["any", "usual"]

SEARCH_REQUEST_EXPERT_TENSOR_TYPE_1_VALUES: set[SearchRequestExpertTensorType1] = {
    "any",
    "usual",
}


def check_search_request_expert_tensor_type_1(
    value: str,
) -> SearchRequestExpertTensorType1:
    if value in SEARCH_REQUEST_EXPERT_TENSOR_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_EXPERT_TENSOR_TYPE_1_VALUES!r}"
    )
