from typing import Literal

PolicyRequestUnknown = Literal["admit", "refuse", "warn"]

POLICY_REQUEST_UNKNOWN_VALUES: set[PolicyRequestUnknown] = {
    "admit",
    "refuse",
    "warn",
}


def check_policy_request_unknown(value: str) -> PolicyRequestUnknown:
    if value in POLICY_REQUEST_UNKNOWN_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {POLICY_REQUEST_UNKNOWN_VALUES!r}"
    )
