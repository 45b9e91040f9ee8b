from typing import Literal

KernelsSectionRopeType0 = Literal["eager", "fused"]

KERNELS_SECTION_ROPE_TYPE_0_VALUES: set[KernelsSectionRopeType0] = {
    "eager",
    "fused",
}


def check_kernels_section_rope_type_0(value: str) -> KernelsSectionRopeType0:
    if value in KERNELS_SECTION_ROPE_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {KERNELS_SECTION_ROPE_TYPE_0_VALUES!r}"
    )
