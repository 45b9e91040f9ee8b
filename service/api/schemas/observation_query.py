"""Which observations a list shows."""

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from service.api.paging import PageQuery
from service.api.schemas.plan_query import Name
from service.catalog.devices import Devices
from service.store.observations import ObservationFilter
from service.usecases.devices import id_of


class ObservationQuery(PageQuery):
    """The query of a list of observations."""

    run_id: Name | SkipJsonSchema[None] = Field(None, description="Only that of this run.", examples=["slurm-4711"])
    framework: Name | SkipJsonSchema[None] = Field(
        None, description="Only runs of this framework.", examples=["megatron-core"]
    )
    device: Name | SkipJsonSchema[None] = Field(
        None, description="Only runs on this device, by any of its names.", examples=["h100-sxm-80gb"]
    )
    plan: Name | SkipJsonSchema[None] = Field(
        None, description="Only runs of this plan.", examples=["pln_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"]
    )
    oom: bool | SkipJsonSchema[None] = Field(
        None, description="Only runs that ended out of memory, or only those that did not.", examples=[True]
    )

    def where(self, devices: Devices) -> ObservationFilter:
        """Return the filter as the store takes it, with the device by its id."""
        said = {name: getattr(self, name) for name in ObservationFilter.__dataclass_fields__}
        return ObservationFilter(**{**said, "device": None if self.device is None else id_of(self.device, devices)})
