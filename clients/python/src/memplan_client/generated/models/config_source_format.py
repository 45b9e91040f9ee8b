from typing import Literal

ConfigSourceFormat = Literal[
    "accelerate",
    "auto",
    "axolotl",
    "deepspeed",
    "huggingface",
    "hydra",
    "kubernetes",
    "llamafactory",
    "megatron",
    "nanotron",
    "nemo",
    "slurm",
    "torch_fsdp",
    "torchtitan",
    "torchtune",
]

CONFIG_SOURCE_FORMAT_VALUES: set[ConfigSourceFormat] = {
    "accelerate",
    "auto",
    "axolotl",
    "deepspeed",
    "huggingface",
    "hydra",
    "kubernetes",
    "llamafactory",
    "megatron",
    "nanotron",
    "nemo",
    "slurm",
    "torch_fsdp",
    "torchtitan",
    "torchtune",
}


def check_config_source_format(value: str) -> ConfigSourceFormat:
    if value in CONFIG_SOURCE_FORMAT_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {CONFIG_SOURCE_FORMAT_VALUES!r}"
    )
