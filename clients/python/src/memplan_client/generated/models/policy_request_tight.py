from typing import Literal

PolicyRequestTight = Literal["admit", "refuse", "warn"]

POLICY_REQUEST_TIGHT_VALUES: set[PolicyRequestTight] = {
    "admit",
    "refuse",
    "warn",
}


def check_policy_request_tight(value: str) -> PolicyRequestTight:
    if value in POLICY_REQUEST_TIGHT_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {POLICY_REQUEST_TIGHT_VALUES!r}"
    )
