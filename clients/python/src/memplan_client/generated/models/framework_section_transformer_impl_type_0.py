from typing import Literal

FrameworkSectionTransformerImplType0 = Literal[
    "hf", "local", "titan", "torch", "transformer_engine"
]

FRAMEWORK_SECTION_TRANSFORMER_IMPL_TYPE_0_VALUES: set[
    FrameworkSectionTransformerImplType0
] = {
    "hf",
    "local",
    "titan",
    "torch",
    "transformer_engine",
}


def check_framework_section_transformer_impl_type_0(
    value: str,
) -> FrameworkSectionTransformerImplType0:
    if value in FRAMEWORK_SECTION_TRANSFORMER_IMPL_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {FRAMEWORK_SECTION_TRANSFORMER_IMPL_TYPE_0_VALUES!r}"
    )
