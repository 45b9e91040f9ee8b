from typing import Literal

KernelsSectionActivationType0 = Literal["eager", "fused"]

KERNELS_SECTION_ACTIVATION_TYPE_0_VALUES: set[KernelsSectionActivationType0] = {
    "eager",
    "fused",
}


def check_kernels_section_activation_type_0(
    value: str,
) -> KernelsSectionActivationType0:
    if value in KERNELS_SECTION_ACTIVATION_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {KERNELS_SECTION_ACTIVATION_TYPE_0_VALUES!r}"
    )
