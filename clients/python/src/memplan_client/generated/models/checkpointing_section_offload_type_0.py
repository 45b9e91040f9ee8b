from typing import Literal

CheckpointingSectionOffloadType0 = Literal["all", "inputs", "none"]

CHECKPOINTING_SECTION_OFFLOAD_TYPE_0_VALUES: set[CheckpointingSectionOffloadType0] = {
    "all",
    "inputs",
    "none",
}


def check_checkpointing_section_offload_type_0(
    value: str,
) -> CheckpointingSectionOffloadType0:
    if value in CHECKPOINTING_SECTION_OFFLOAD_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {CHECKPOINTING_SECTION_OFFLOAD_TYPE_0_VALUES!r}"
    )
