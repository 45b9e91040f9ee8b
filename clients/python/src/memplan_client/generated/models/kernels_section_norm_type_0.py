from typing import Literal

KernelsSectionNormType0 = Literal["eager", "fused"]

KERNELS_SECTION_NORM_TYPE_0_VALUES: set[KernelsSectionNormType0] = {
    "eager",
    "fused",
}


def check_kernels_section_norm_type_0(value: str) -> KernelsSectionNormType0:
    if value in KERNELS_SECTION_NORM_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {KERNELS_SECTION_NORM_TYPE_0_VALUES!r}"
    )
