from typing import Literal

AdaptersSectionType = Literal["lora", "qlora"]

ADAPTERS_SECTION_TYPE_VALUES: set[AdaptersSectionType] = {
    "lora",
    "qlora",
}


def check_adapters_section_type(value: str) -> AdaptersSectionType:
    if value in ADAPTERS_SECTION_TYPE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ADAPTERS_SECTION_TYPE_VALUES!r}"
    )
