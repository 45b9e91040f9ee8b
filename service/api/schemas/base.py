"""What all wire schemas share: strict requests, frozen answers, and types that say their unit."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class RequestBody(BaseModel):
    """An object of a request; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Answer(BaseModel):
    """An object of an answer; later versions may add fields."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


# Bytes pass 2**31 long before anything else does, so the document says how wide they are.
_INT64 = {"format": "int64"}
Bytes = Annotated[int, Field(ge=0, json_schema_extra=_INT64)]
SignedBytes = Annotated[int, Field(json_schema_extra=_INT64)]
Count = Annotated[int, Field(ge=0, json_schema_extra=_INT64)]
Seconds = Annotated[float, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
