from typing import Literal

MeasuredRequestSource = Literal["nvidia-smi", "scheduler", "torch"]

MEASURED_REQUEST_SOURCE_VALUES: set[MeasuredRequestSource] = {
    "nvidia-smi",
    "scheduler",
    "torch",
}


def check_measured_request_source(value: str) -> MeasuredRequestSource:
    if value in MEASURED_REQUEST_SOURCE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {MEASURED_REQUEST_SOURCE_VALUES!r}"
    )
