from typing import Literal

ModelSectionMoeLayerPatternType0Item = Literal[0, 1]

MODEL_SECTION_MOE_LAYER_PATTERN_TYPE_0_ITEM_VALUES: set[
    ModelSectionMoeLayerPatternType0Item
] = {
    0,
    1,
}


def check_model_section_moe_layer_pattern_type_0_item(
    value: int,
) -> ModelSectionMoeLayerPatternType0Item:
    if value in MODEL_SECTION_MOE_LAYER_PATTERN_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {MODEL_SECTION_MOE_LAYER_PATTERN_TYPE_0_ITEM_VALUES!r}"
    )
