from typing import Literal

ListPlansVerdict = Literal["does_not_fit", "fits", "tight", "unknown"]

LIST_PLANS_VERDICT_VALUES: set[ListPlansVerdict] = {
    "does_not_fit",
    "fits",
    "tight",
    "unknown",
}


def check_list_plans_verdict(value: str) -> ListPlansVerdict:
    if value in LIST_PLANS_VERDICT_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {LIST_PLANS_VERDICT_VALUES!r}"
    )
