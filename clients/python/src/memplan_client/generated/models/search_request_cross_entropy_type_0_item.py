from typing import Literal

SearchRequestCrossEntropyType0Item = Literal[
    "chunked",
    "chunked_head",
    "compiled",
    "cut",
    "hf",
    "liger",
    "loss_parallel",
    "megatron",
    "megatron_fused",
    "te",
    "torch",
    "torch_float",
]

SEARCH_REQUEST_CROSS_ENTROPY_TYPE_0_ITEM_VALUES: set[
    SearchRequestCrossEntropyType0Item
] = {
    "chunked",
    "chunked_head",
    "compiled",
    "cut",
    "hf",
    "liger",
    "loss_parallel",
    "megatron",
    "megatron_fused",
    "te",
    "torch",
    "torch_float",
}


def check_search_request_cross_entropy_type_0_item(
    value: str,
) -> SearchRequestCrossEntropyType0Item:
    if value in SEARCH_REQUEST_CROSS_ENTROPY_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SEARCH_REQUEST_CROSS_ENTROPY_TYPE_0_ITEM_VALUES!r}"
    )
