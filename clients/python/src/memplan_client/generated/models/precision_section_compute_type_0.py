from typing import Literal

PrecisionSectionComputeType0 = Literal["bf16", "fp16", "fp32"]

PRECISION_SECTION_COMPUTE_TYPE_0_VALUES: set[PrecisionSectionComputeType0] = {
    "bf16",
    "fp16",
    "fp32",
}


def check_precision_section_compute_type_0(value: str) -> PrecisionSectionComputeType0:
    if value in PRECISION_SECTION_COMPUTE_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PRECISION_SECTION_COMPUTE_TYPE_0_VALUES!r}"
    )
