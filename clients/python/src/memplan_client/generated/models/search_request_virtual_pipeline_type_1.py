from typing import Literal

SearchRequestVirtualPipelineType1 = Literal["any", "usual"]

SEARCH_REQUEST_VIRTUAL_PIPELINE_TYPE_1_VALUES: set[
    SearchRequestVirtualPipelineType1
] = {
    "any",
    "usual",
}


def check_search_request_virtual_pipeline_type_1(
    value: str,
) -> SearchRequestVirtualPipelineType1:
    if value in SEARCH_REQUEST_VIRTUAL_PIPELINE_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_VIRTUAL_PIPELINE_TYPE_1_VALUES!r}"
    )
