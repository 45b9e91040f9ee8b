from typing import Literal

ModelSectionPositionEmbeddingType0 = Literal["alibi", "learned", "none", "rope"]

MODEL_SECTION_POSITION_EMBEDDING_TYPE_0_VALUES: set[
    ModelSectionPositionEmbeddingType0
] = {
    "alibi",
    "learned",
    "none",
    "rope",
}


def check_model_section_position_embedding_type_0(
    value: str,
) -> ModelSectionPositionEmbeddingType0:
    if value in MODEL_SECTION_POSITION_EMBEDDING_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {MODEL_SECTION_POSITION_EMBEDDING_TYPE_0_VALUES!r}"
    )
