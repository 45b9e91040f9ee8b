from typing import Literal

FaultLocation = Literal["body", "header", "path", "query"]

FAULT_LOCATION_VALUES: set[FaultLocation] = {
    "body",
    "header",
    "path",
    "query",
}


def check_fault_location(value: str) -> FaultLocation:
    if value in FAULT_LOCATION_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {FAULT_LOCATION_VALUES!r}"
    )
