from typing import Literal

ShardingSectionReshardAfterForwardType0 = Literal["always", "default", "never"]

SHARDING_SECTION_RESHARD_AFTER_FORWARD_TYPE_0_VALUES: set[
    ShardingSectionReshardAfterForwardType0
] = {
    "always",
    "default",
    "never",
}


def check_sharding_section_reshard_after_forward_type_0(
    value: str,
) -> ShardingSectionReshardAfterForwardType0:
    if value in SHARDING_SECTION_RESHARD_AFTER_FORWARD_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SHARDING_SECTION_RESHARD_AFTER_FORWARD_TYPE_0_VALUES!r}"
    )
