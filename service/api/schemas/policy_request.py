"""What an operator lets the jobs of a queue do."""

from typing import Annotated, Literal

from pydantic import Field

from service.api.schemas.base import RequestBody
from service.api.schemas.device_request import Name, Reserve
from service.api.schemas.plan_request import Degree
from service.catalog.devices import Devices
from service.usecases.devices import device_of
from service.usecases.policies import Policy

QUEUE = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"

Ruling = Literal["admit", "warn", "refuse"]


class PolicyRequest(RequestBody):
    """The rules of a queue, and what is done when one is broken."""

    mode: Literal["enforce", "warn", "shadow", "off"] = Field(examples=["shadow"])
    """`enforce` refuses, `warn` only warns, `shadow` admits and keeps a record of what would be refused, `off` applies
    no rule and keeps no record."""
    margin_fraction: Annotated[float, Field(strict=True, ge=0, lt=1, allow_inf_nan=False)] = Field(0.0, examples=[0.05])
    """Share of a device's usable memory that a job must leave free."""
    margin_bytes: Reserve = Field(0, examples=[2147483648])
    """Memory that a job must leave free besides (bytes)."""
    tight: Ruling = Field("warn", examples=["warn"])
    """What a verdict `tight` comes to."""
    unknown: Ruling = Field("warn", examples=["warn"])
    """What a verdict `unknown` comes to; `refuse` holds up jobs whose config says too little, and those for which the
    deadline was too near."""
    allowed_devices: Annotated[list[Name], Field(max_length=200)] | None = Field(None, examples=[["h100-sxm-80gb"]])
    """Ids, aliases or scheduler labels of the devices that jobs may use; null: all."""
    max_world_size: Degree | None = Field(None, examples=[512])
    """Most GPUs of a job; null: any number."""

    def policy(self, devices: Devices) -> Policy:
        """Return the policy as the use cases take it. Raises NoSuchDevice."""
        for number, name in enumerate(self.allowed_devices or ()):
            device_of(name, f"/allowed_devices/{number}", devices)
        said = self.model_dump(exclude={"allowed_devices"})
        allowed = None if self.allowed_devices is None else tuple(self.allowed_devices)
        return Policy(**said, allowed_devices=allowed)
