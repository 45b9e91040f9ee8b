from typing import Literal

AdaptersSectionModulesItem = Literal[
    "down",
    "embedding",
    "gate",
    "head",
    "k",
    "kv_a",
    "kv_b",
    "o",
    "q",
    "q_a",
    "q_b",
    "up",
    "v",
]

ADAPTERS_SECTION_MODULES_ITEM_VALUES: set[AdaptersSectionModulesItem] = {
    "down",
    "embedding",
    "gate",
    "head",
    "k",
    "kv_a",
    "kv_b",
    "o",
    "q",
    "q_a",
    "q_b",
    "up",
    "v",
}


def check_adapters_section_modules_item(value: str) -> AdaptersSectionModulesItem:
    if value in ADAPTERS_SECTION_MODULES_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ADAPTERS_SECTION_MODULES_ITEM_VALUES!r}"
    )
