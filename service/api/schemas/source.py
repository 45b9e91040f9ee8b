"""A config as its owner has it."""

from typing import Annotated

from pydantic import Field

Name = Annotated[str, Field(min_length=1, max_length=255)]
Text = Annotated[str, Field(max_length=5 * 1024 * 1024)]
