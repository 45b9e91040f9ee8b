from typing import Literal

ExportPlanFormat = Literal[
    "accelerate",
    "deepspeed",
    "megatron",
    "nemo",
    "slurm",
    "torchtitan",
    "torchtitan-cli",
    "torchtitan-registry",
]

EXPORT_PLAN_FORMAT_VALUES: set[ExportPlanFormat] = {
    "accelerate",
    "deepspeed",
    "megatron",
    "nemo",
    "slurm",
    "torchtitan",
    "torchtitan-cli",
    "torchtitan-registry",
}


def check_export_plan_format(value: str) -> ExportPlanFormat:
    if value in EXPORT_PLAN_FORMAT_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {EXPORT_PLAN_FORMAT_VALUES!r}"
    )
