from typing import Literal

PrecisionSectionMasterType0 = Literal["bf16_remainder", "fp32", "none"]

PRECISION_SECTION_MASTER_TYPE_0_VALUES: set[PrecisionSectionMasterType0] = {
    "bf16_remainder",
    "fp32",
    "none",
}


def check_precision_section_master_type_0(value: str) -> PrecisionSectionMasterType0:
    if value in PRECISION_SECTION_MASTER_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PRECISION_SECTION_MASTER_TYPE_0_VALUES!r}"
    )
