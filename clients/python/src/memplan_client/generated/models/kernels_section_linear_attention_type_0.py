from typing import Literal

KernelsSectionLinearAttentionType0 = Literal["eager", "fused"]

KERNELS_SECTION_LINEAR_ATTENTION_TYPE_0_VALUES: set[
    KernelsSectionLinearAttentionType0
] = {
    "eager",
    "fused",
}


def check_kernels_section_linear_attention_type_0(
    value: str,
) -> KernelsSectionLinearAttentionType0:
    if value in KERNELS_SECTION_LINEAR_ATTENTION_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {KERNELS_SECTION_LINEAR_ATTENTION_TYPE_0_VALUES!r}"
    )
