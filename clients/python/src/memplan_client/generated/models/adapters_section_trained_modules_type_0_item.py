from typing import Literal

AdaptersSectionTrainedModulesType0Item = Literal["embedding", "head"]

ADAPTERS_SECTION_TRAINED_MODULES_TYPE_0_ITEM_VALUES: set[
    AdaptersSectionTrainedModulesType0Item
] = {
    "embedding",
    "head",
}


def check_adapters_section_trained_modules_type_0_item(
    value: str,
) -> AdaptersSectionTrainedModulesType0Item:
    if value in ADAPTERS_SECTION_TRAINED_MODULES_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ADAPTERS_SECTION_TRAINED_MODULES_TYPE_0_ITEM_VALUES!r}"
    )
