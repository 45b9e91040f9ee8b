from typing import Literal

PolicyRequestMode = Literal["enforce", "off", "shadow", "warn"]

POLICY_REQUEST_MODE_VALUES: set[PolicyRequestMode] = {
    "enforce",
    "off",
    "shadow",
    "warn",
}


def check_policy_request_mode(value: str) -> PolicyRequestMode:
    if value in POLICY_REQUEST_MODE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {POLICY_REQUEST_MODE_VALUES!r}"
    )
