from typing import Literal

Fp8SectionBackendType0 = Literal["msamp", "torchao", "transformer_engine"]

FP_8_SECTION_BACKEND_TYPE_0_VALUES: set[Fp8SectionBackendType0] = {
    "msamp",
    "torchao",
    "transformer_engine",
}


def check_fp_8_section_backend_type_0(value: str) -> Fp8SectionBackendType0:
    if value in FP_8_SECTION_BACKEND_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {FP_8_SECTION_BACKEND_TYPE_0_VALUES!r}"
    )
