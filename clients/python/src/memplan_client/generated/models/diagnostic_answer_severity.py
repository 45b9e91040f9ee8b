from typing import Literal

DiagnosticAnswerSeverity = Literal["error", "info", "warning"]

DIAGNOSTIC_ANSWER_SEVERITY_VALUES: set[DiagnosticAnswerSeverity] = {
    "error",
    "info",
    "warning",
}


def check_diagnostic_answer_severity(value: str) -> DiagnosticAnswerSeverity:
    if value in DIAGNOSTIC_ANSWER_SEVERITY_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {DIAGNOSTIC_ANSWER_SEVERITY_VALUES!r}"
    )
