from typing import Literal

ImportAnswerOutcome = Literal["incomplete", "invalid", "ok"]

IMPORT_ANSWER_OUTCOME_VALUES: set[ImportAnswerOutcome] = {
    "incomplete",
    "invalid",
    "ok",
}


def check_import_answer_outcome(value: str) -> ImportAnswerOutcome:
    if value in IMPORT_ANSWER_OUTCOME_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {IMPORT_ANSWER_OUTCOME_VALUES!r}"
    )
