from typing import Literal

ModelSectionNormalizationType0 = Literal["layernorm", "rmsnorm"]

MODEL_SECTION_NORMALIZATION_TYPE_0_VALUES: set[ModelSectionNormalizationType0] = {
    "layernorm",
    "rmsnorm",
}


def check_model_section_normalization_type_0(
    value: str,
) -> ModelSectionNormalizationType0:
    if value in MODEL_SECTION_NORMALIZATION_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {MODEL_SECTION_NORMALIZATION_TYPE_0_VALUES!r}"
    )
