"""What all wire schemas share: strict requests, frozen answers, and types that say their unit."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from service.job.schema import Job, ModelSection


class RequestBody(BaseModel):
    """An object of a request; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Answer(BaseModel):
    """An object of an answer; later versions may add fields."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


def _without_nulls(section: BaseModel) -> dict[str, Any]:
    return section.model_dump(mode="json", by_alias=True, exclude_none=True)


# A job has a hundred fields, most of them null in any one job; null and absent mean the same in it.
JobAnswer = Annotated[Job, PlainSerializer(_without_nulls)]
ModelSectionAnswer = Annotated[ModelSection, PlainSerializer(_without_nulls)]

# Bytes pass 2**31 long before anything else does, so the document says how wide they are.
_INT64 = {"format": "int64"}
Bytes = Annotated[int, Field(ge=0, json_schema_extra=_INT64)]
SignedBytes = Annotated[int, Field(json_schema_extra=_INT64)]
Count = Annotated[int, Field(ge=0, json_schema_extra=_INT64)]
Seconds = Annotated[float, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
