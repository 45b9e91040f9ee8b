from typing import Literal

Fp8SectionRecipeType0 = Literal["blockwise", "current", "delayed", "mxfp8", "nvfp4"]

FP_8_SECTION_RECIPE_TYPE_0_VALUES: set[Fp8SectionRecipeType0] = {
    "blockwise",
    "current",
    "delayed",
    "mxfp8",
    "nvfp4",
}


def check_fp_8_section_recipe_type_0(value: str) -> Fp8SectionRecipeType0:
    if value in FP_8_SECTION_RECIPE_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {FP_8_SECTION_RECIPE_TYPE_0_VALUES!r}"
    )
