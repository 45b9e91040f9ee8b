from typing import Literal

KernelsSectionAttentionType0 = Literal[
    "auto", "eager", "flash", "flex", "fused", "sdpa", "unfused"
]

KERNELS_SECTION_ATTENTION_TYPE_0_VALUES: set[KernelsSectionAttentionType0] = {
    "auto",
    "eager",
    "flash",
    "flex",
    "fused",
    "sdpa",
    "unfused",
}


def check_kernels_section_attention_type_0(value: str) -> KernelsSectionAttentionType0:
    if value in KERNELS_SECTION_ATTENTION_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {KERNELS_SECTION_ATTENTION_TYPE_0_VALUES!r}"
    )
