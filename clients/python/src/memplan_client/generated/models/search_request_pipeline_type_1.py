from typing import Literal

SearchRequestPipelineType1 = Literal["any", "usual"]

SEARCH_REQUEST_PIPELINE_TYPE_1_VALUES: set[SearchRequestPipelineType1] = {
    "any",
    "usual",
}


def check_search_request_pipeline_type_1(value: str) -> SearchRequestPipelineType1:
    if value in SEARCH_REQUEST_PIPELINE_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_PIPELINE_TYPE_1_VALUES!r}"
    )
