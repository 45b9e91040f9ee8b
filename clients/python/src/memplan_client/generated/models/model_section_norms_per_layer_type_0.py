from typing import Literal

ModelSectionNormsPerLayerType0 = Literal[1, 2, 4]

MODEL_SECTION_NORMS_PER_LAYER_TYPE_0_VALUES: set[ModelSectionNormsPerLayerType0] = {
    1,
    2,
    4,
}


def check_model_section_norms_per_layer_type_0(
    value: int,
) -> ModelSectionNormsPerLayerType0:
    if value in MODEL_SECTION_NORMS_PER_LAYER_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {MODEL_SECTION_NORMS_PER_LAYER_TYPE_0_VALUES!r}"
    )
