from typing import Literal

OptimizerSectionParameterOffloadType0 = Literal["cpu", "none", "nvme"]

OPTIMIZER_SECTION_PARAMETER_OFFLOAD_TYPE_0_VALUES: set[
    OptimizerSectionParameterOffloadType0
] = {
    "cpu",
    "none",
    "nvme",
}


def check_optimizer_section_parameter_offload_type_0(
    value: str,
) -> OptimizerSectionParameterOffloadType0:
    if value in OPTIMIZER_SECTION_PARAMETER_OFFLOAD_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {OPTIMIZER_SECTION_PARAMETER_OFFLOAD_TYPE_0_VALUES!r}"
    )
