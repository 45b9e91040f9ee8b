from typing import Literal

KernelsSectionMoeDispatcherType0 = Literal[
    "allgather", "alltoall", "deepep", "hybridep"
]

KERNELS_SECTION_MOE_DISPATCHER_TYPE_0_VALUES: set[KernelsSectionMoeDispatcherType0] = {
    "allgather",
    "alltoall",
    "deepep",
    "hybridep",
}


def check_kernels_section_moe_dispatcher_type_0(
    value: str,
) -> KernelsSectionMoeDispatcherType0:
    if value in KERNELS_SECTION_MOE_DISPATCHER_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {KERNELS_SECTION_MOE_DISPATCHER_TYPE_0_VALUES!r}"
    )
