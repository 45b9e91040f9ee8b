from typing import Literal

AdaptersSectionQuantizationType0 = Literal["int8", "nf4", "nf4_double"]

ADAPTERS_SECTION_QUANTIZATION_TYPE_0_VALUES: set[AdaptersSectionQuantizationType0] = {
    "int8",
    "nf4",
    "nf4_double",
}


def check_adapters_section_quantization_type_0(
    value: str,
) -> AdaptersSectionQuantizationType0:
    if value in ADAPTERS_SECTION_QUANTIZATION_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ADAPTERS_SECTION_QUANTIZATION_TYPE_0_VALUES!r}"
    )
