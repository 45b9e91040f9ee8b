from typing import Literal

SourceAnswerFrom = Literal[
    "assumed", "default", "derived", "environment", "flag", "given", "key"
]

SOURCE_ANSWER_FROM_VALUES: set[SourceAnswerFrom] = {
    "assumed",
    "default",
    "derived",
    "environment",
    "flag",
    "given",
    "key",
}


def check_source_answer_from(value: str) -> SourceAnswerFrom:
    if value in SOURCE_ANSWER_FROM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SOURCE_ANSWER_FROM_VALUES!r}"
    )
