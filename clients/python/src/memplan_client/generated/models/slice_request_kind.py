from typing import Literal

SliceRequestKind = Literal["mig", "vgpu"]

SLICE_REQUEST_KIND_VALUES: set[SliceRequestKind] = {
    "mig",
    "vgpu",
}


def check_slice_request_kind(value: str) -> SliceRequestKind:
    if value in SLICE_REQUEST_KIND_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SLICE_REQUEST_KIND_VALUES!r}"
    )
