from typing import Literal

CheckpointingLimitMethodType0 = Literal["block", "uniform"]

CHECKPOINTING_LIMIT_METHOD_TYPE_0_VALUES: set[CheckpointingLimitMethodType0] = {
    "block",
    "uniform",
}


def check_checkpointing_limit_method_type_0(
    value: str,
) -> CheckpointingLimitMethodType0:
    if value in CHECKPOINTING_LIMIT_METHOD_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {CHECKPOINTING_LIMIT_METHOD_TYPE_0_VALUES!r}"
    )
