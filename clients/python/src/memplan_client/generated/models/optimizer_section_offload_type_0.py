from typing import Literal

OptimizerSectionOffloadType0 = Literal["cpu", "none", "nvme"]

OPTIMIZER_SECTION_OFFLOAD_TYPE_0_VALUES: set[OptimizerSectionOffloadType0] = {
    "cpu",
    "none",
    "nvme",
}


def check_optimizer_section_offload_type_0(value: str) -> OptimizerSectionOffloadType0:
    if value in OPTIMIZER_SECTION_OFFLOAD_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {OPTIMIZER_SECTION_OFFLOAD_TYPE_0_VALUES!r}"
    )
