from typing import Literal

ModelSectionMlpType0 = Literal["geglu", "gelu", "relu", "relu2", "swiglu"]

MODEL_SECTION_MLP_TYPE_0_VALUES: set[ModelSectionMlpType0] = {
    "geglu",
    "gelu",
    "relu",
    "relu2",
    "swiglu",
}


def check_model_section_mlp_type_0(value: str) -> ModelSectionMlpType0:
    if value in MODEL_SECTION_MLP_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {MODEL_SECTION_MLP_TYPE_0_VALUES!r}"
    )
