from typing import Literal

EstimateAnswerVerdict = Literal["does_not_fit", "fits", "tight", "unknown"]

ESTIMATE_ANSWER_VERDICT_VALUES: set[EstimateAnswerVerdict] = {
    "does_not_fit",
    "fits",
    "tight",
    "unknown",
}


def check_estimate_answer_verdict(value: str) -> EstimateAnswerVerdict:
    if value in ESTIMATE_ANSWER_VERDICT_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ESTIMATE_ANSWER_VERDICT_VALUES!r}"
    )
