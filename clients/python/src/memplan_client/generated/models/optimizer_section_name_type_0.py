from typing import Literal

OptimizerSectionNameType0 = Literal[
    "adafactor", "adam", "adamw8bit", "lion", "muon", "none", "sgd"
]

OPTIMIZER_SECTION_NAME_TYPE_0_VALUES: set[OptimizerSectionNameType0] = {
    "adafactor",
    "adam",
    "adamw8bit",
    "lion",
    "muon",
    "none",
    "sgd",
}


def check_optimizer_section_name_type_0(value: str) -> OptimizerSectionNameType0:
    if value in OPTIMIZER_SECTION_NAME_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {OPTIMIZER_SECTION_NAME_TYPE_0_VALUES!r}"
    )
