from typing import Literal

OptimizerSectionMomentsType0Item = Literal["bf16", "fp16", "fp32", "fp8", "int8"]

OPTIMIZER_SECTION_MOMENTS_TYPE_0_ITEM_VALUES: set[OptimizerSectionMomentsType0Item] = {
    "bf16",
    "fp16",
    "fp32",
    "fp8",
    "int8",
}


def check_optimizer_section_moments_type_0_item(
    value: str,
) -> OptimizerSectionMomentsType0Item:
    if value in OPTIMIZER_SECTION_MOMENTS_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {OPTIMIZER_SECTION_MOMENTS_TYPE_0_ITEM_VALUES!r}"
    )
