from typing import Literal

FrameworkSectionName = Literal[
    "ddp", "deepspeed", "fsdp1", "fsdp2", "hf-trainer", "megatron-core"
]

FRAMEWORK_SECTION_NAME_VALUES: set[FrameworkSectionName] = {
    "ddp",
    "deepspeed",
    "fsdp1",
    "fsdp2",
    "hf-trainer",
    "megatron-core",
}


def check_framework_section_name(value: str) -> FrameworkSectionName:
    if value in FRAMEWORK_SECTION_NAME_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {FRAMEWORK_SECTION_NAME_VALUES!r}"
    )
