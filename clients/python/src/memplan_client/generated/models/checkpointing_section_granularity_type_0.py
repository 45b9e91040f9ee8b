from typing import Literal

CheckpointingSectionGranularityType0 = Literal["full", "none", "selective"]

CHECKPOINTING_SECTION_GRANULARITY_TYPE_0_VALUES: set[
    CheckpointingSectionGranularityType0
] = {
    "full",
    "none",
    "selective",
}


def check_checkpointing_section_granularity_type_0(
    value: str,
) -> CheckpointingSectionGranularityType0:
    if value in CHECKPOINTING_SECTION_GRANULARITY_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {CHECKPOINTING_SECTION_GRANULARITY_TYPE_0_VALUES!r}"
    )
