from typing import Literal

KernelsSectionCrossEntropyType0 = Literal[
    "chunked",
    "chunked_head",
    "compiled",
    "cut",
    "hf",
    "liger",
    "loss_parallel",
    "megatron",
    "megatron_fused",
    "te",
    "torch",
    "torch_float",
]

KERNELS_SECTION_CROSS_ENTROPY_TYPE_0_VALUES: set[KernelsSectionCrossEntropyType0] = {
    "chunked",
    "chunked_head",
    "compiled",
    "cut",
    "hf",
    "liger",
    "loss_parallel",
    "megatron",
    "megatron_fused",
    "te",
    "torch",
    "torch_float",
}


def check_kernels_section_cross_entropy_type_0(
    value: str,
) -> KernelsSectionCrossEntropyType0:
    if value in KERNELS_SECTION_CROSS_ENTROPY_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {KERNELS_SECTION_CROSS_ENTROPY_TYPE_0_VALUES!r}"
    )
