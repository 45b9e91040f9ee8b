"""Whether the service runs, and whether it can answer."""

from typing import Literal

from pydantic import Field

from service.api.schemas.base import Answer


class Liveness(Answer):
    """The process answers."""

    status: Literal["alive"] = Field("alive", examples=["alive"])
    """Always `alive`: no answer at all is the other case."""


class Readiness(Answer):
    """The service can answer every route."""

    status: Literal["ready"] = Field("ready", examples=["ready"])
    """Always `ready`; otherwise the answer is a problem of status 503."""
    version: str = Field(examples=["0.1.0"])
    """Release of the service."""
    method_version: str = Field(examples=["1"])
    """Version of the memory model; a change means that the same job may get another answer."""
    devices: int = Field(ge=1, examples=[34])
    """Number of devices in the catalogue."""
    models: int = Field(ge=1, examples=[20])
    """Number of model presets in the catalogue."""
