from typing import Literal

PrecisionSectionReduceType0 = Literal["bf16", "fp16", "fp32"]

PRECISION_SECTION_REDUCE_TYPE_0_VALUES: set[PrecisionSectionReduceType0] = {
    "bf16",
    "fp16",
    "fp32",
}


def check_precision_section_reduce_type_0(value: str) -> PrecisionSectionReduceType0:
    if value in PRECISION_SECTION_REDUCE_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PRECISION_SECTION_REDUCE_TYPE_0_VALUES!r}"
    )
