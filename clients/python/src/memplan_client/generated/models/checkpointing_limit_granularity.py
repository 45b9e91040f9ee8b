from typing import Literal

CheckpointingLimitGranularity = Literal["full", "none", "selective"]

CHECKPOINTING_LIMIT_GRANULARITY_VALUES: set[CheckpointingLimitGranularity] = {
    "full",
    "none",
    "selective",
}


def check_checkpointing_limit_granularity(value: str) -> CheckpointingLimitGranularity:
    if value in CHECKPOINTING_LIMIT_GRANULARITY_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {CHECKPOINTING_LIMIT_GRANULARITY_VALUES!r}"
    )
