from typing import Literal

OptimizerSectionImplementationType0 = Literal["foreach", "fused", "loop"]

OPTIMIZER_SECTION_IMPLEMENTATION_TYPE_0_VALUES: set[
    OptimizerSectionImplementationType0
] = {
    "foreach",
    "fused",
    "loop",
}


def check_optimizer_section_implementation_type_0(
    value: str,
) -> OptimizerSectionImplementationType0:
    if value in OPTIMIZER_SECTION_IMPLEMENTATION_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {OPTIMIZER_SECTION_IMPLEMENTATION_TYPE_0_VALUES!r}"
    )
