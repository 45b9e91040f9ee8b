from typing import Literal

KernelsSectionExpertsType0 = Literal["eager", "grouped_mm"]

KERNELS_SECTION_EXPERTS_TYPE_0_VALUES: set[KernelsSectionExpertsType0] = {
    "eager",
    "grouped_mm",
}


def check_kernels_section_experts_type_0(value: str) -> KernelsSectionExpertsType0:
    if value in KERNELS_SECTION_EXPERTS_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {KERNELS_SECTION_EXPERTS_TYPE_0_VALUES!r}"
    )
