from typing import Literal

AdaptersSectionDtypeType0 = Literal["bf16", "fp16", "fp32"]

ADAPTERS_SECTION_DTYPE_TYPE_0_VALUES: set[AdaptersSectionDtypeType0] = {
    "bf16",
    "fp16",
    "fp32",
}


def check_adapters_section_dtype_type_0(value: str) -> AdaptersSectionDtypeType0:
    if value in ADAPTERS_SECTION_DTYPE_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ADAPTERS_SECTION_DTYPE_TYPE_0_VALUES!r}"
    )
