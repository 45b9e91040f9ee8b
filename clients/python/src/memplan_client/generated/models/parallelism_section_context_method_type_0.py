from typing import Literal

ParallelismSectionContextMethodType0 = Literal["a2a", "a2a+p2p", "all_gather", "p2p"]

PARALLELISM_SECTION_CONTEXT_METHOD_TYPE_0_VALUES: set[
    ParallelismSectionContextMethodType0
] = {
    "a2a",
    "a2a+p2p",
    "all_gather",
    "p2p",
}


def check_parallelism_section_context_method_type_0(
    value: str,
) -> ParallelismSectionContextMethodType0:
    if value in PARALLELISM_SECTION_CONTEXT_METHOD_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PARALLELISM_SECTION_CONTEXT_METHOD_TYPE_0_VALUES!r}"
    )
