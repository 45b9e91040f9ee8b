from typing import Literal

PrecisionSectionParametersType0 = Literal["bf16", "fp16", "fp32", "fp8"]

PRECISION_SECTION_PARAMETERS_TYPE_0_VALUES: set[PrecisionSectionParametersType0] = {
    "bf16",
    "fp16",
    "fp32",
    "fp8",
}


def check_precision_section_parameters_type_0(
    value: str,
) -> PrecisionSectionParametersType0:
    if value in PRECISION_SECTION_PARAMETERS_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PRECISION_SECTION_PARAMETERS_TYPE_0_VALUES!r}"
    )
