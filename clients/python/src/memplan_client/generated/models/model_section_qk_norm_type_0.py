from typing import Literal

ModelSectionQkNormType0 = Literal["full", "none", "per_head"]

MODEL_SECTION_QK_NORM_TYPE_0_VALUES: set[ModelSectionQkNormType0] = {
    "full",
    "none",
    "per_head",
}


def check_model_section_qk_norm_type_0(value: str) -> ModelSectionQkNormType0:
    if value in MODEL_SECTION_QK_NORM_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {MODEL_SECTION_QK_NORM_TYPE_0_VALUES!r}"
    )
