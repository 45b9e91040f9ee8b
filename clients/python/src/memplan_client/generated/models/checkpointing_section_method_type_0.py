from typing import Literal

CheckpointingSectionMethodType0 = Literal["block", "uniform"]

CHECKPOINTING_SECTION_METHOD_TYPE_0_VALUES: set[CheckpointingSectionMethodType0] = {
    "block",
    "uniform",
}


def check_checkpointing_section_method_type_0(
    value: str,
) -> CheckpointingSectionMethodType0:
    if value in CHECKPOINTING_SECTION_METHOD_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {CHECKPOINTING_SECTION_METHOD_TYPE_0_VALUES!r}"
    )
