from typing import Literal

PrecisionSectionGradientsType0 = Literal["bf16", "fp16", "fp32"]

PRECISION_SECTION_GRADIENTS_TYPE_0_VALUES: set[PrecisionSectionGradientsType0] = {
    "bf16",
    "fp16",
    "fp32",
}


def check_precision_section_gradients_type_0(
    value: str,
) -> PrecisionSectionGradientsType0:
    if value in PRECISION_SECTION_GRADIENTS_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PRECISION_SECTION_GRADIENTS_TYPE_0_VALUES!r}"
    )
