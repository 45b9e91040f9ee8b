"""A foreign training config as it comes over the wire."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from service.calculator import limits
from service.job.schema import ModelSection

LARGEST_TEXT = 5 * 1024 * 1024
MOST_FILES = 100
_LONGEST_NAME = 255

Format = Literal[
    "auto",
    "megatron",
    "huggingface",
    "torch_fsdp",
    "slurm",
    "kubernetes",
    "deepspeed",
    "accelerate",
    "torchtitan",
    "nemo",
    "nanotron",
    "torchtune",
    "axolotl",
    "llamafactory",
    "hydra",
]
Text = Annotated[str, Field(max_length=LARGEST_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME)]
Setting = Annotated[str, Field(max_length=100_000)]

_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:")


class ConfigSource(BaseModel):
    """A training config in the form its owner has it; nothing in it is executed, sourced or fetched."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    format: Format = Field("auto", examples=["megatron"])
    """Dialect of the text; `auto` detects it and says how sure it is."""
    text: Text | None = Field(None, examples=["torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32"])
    """The config itself: a launch script, a list of flags, or a config file; at most 5 MiB."""
    files: dict[Name, Text] = Field(default={}, max_length=MOST_FILES, examples=[{"model.sh": "LAYERS=32"}])
    """Other files that the text names, by relative name; at most 100 and 5 MiB together."""
    env: dict[Name, Setting] = Field(default={}, max_length=1000, examples=[{"TP": "8"}])
    """Environment variables that a script would see; they feed what the text leaves open."""
    argv: list[Setting] = Field(default=[], max_length=10_000, examples=[["8", "--seq-length", "8192"]])
    """Arguments of the script in `text`; without a text, the argument list of the training program itself."""
    model: ModelSection | None = Field(None, examples=[{"vocab_size": 128256}])
    """Model facts that complete or override the text; may hold a single key."""
    world_size: Annotated[int, Field(strict=True, ge=1, le=limits.WORLD_SIZE)] | None = Field(None, examples=[64])
    """Number of GPUs; completes or overrides what the text says."""

    @field_validator("files")
    @classmethod
    def _relative_names(cls, files: dict[str, str]) -> dict[str, str]:
        for name in files:
            if _ABSOLUTE.match(name) or ".." in re.split(r"[/\\]", name) or "\x00" in name:
                raise ValueError(f"file name {name[:80]!r} must be relative and stay below the text's own folder")
        if sum(map(len, files.values())) > LARGEST_TEXT:
            raise ValueError("the files hold more than 5 MiB together")
        return files
