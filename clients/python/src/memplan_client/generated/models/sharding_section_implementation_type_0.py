from typing import Literal

ShardingSectionImplementationType0 = Literal["megatron_fsdp", "torch_fsdp2"]

SHARDING_SECTION_IMPLEMENTATION_TYPE_0_VALUES: set[
    ShardingSectionImplementationType0
] = {
    "megatron_fsdp",
    "torch_fsdp2",
}


def check_sharding_section_implementation_type_0(
    value: str,
) -> ShardingSectionImplementationType0:
    if value in SHARDING_SECTION_IMPLEMENTATION_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SHARDING_SECTION_IMPLEMENTATION_TYPE_0_VALUES!r}"
    )
