"""Which plans a list shows."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from service.api.paging import PageQuery
from service.catalog.devices import Devices
from service.store.plans import PlanFilter
from service.usecases.devices import id_of

# What no name has, and what PostgreSQL takes in no text.
_NO_CONTROLS = r"^[^\x00-\x1f\x7f]*$"
Name = Annotated[str, Field(max_length=200, pattern=_NO_CONTROLS)]


def _with_value(label: str) -> str:
    if "=" not in label[1:]:
        raise PydanticCustomError("wrong_form", "should be a key and a value, as in team=pretraining")
    return label


class PlanQuery(PageQuery):
    """The query of a list of plans."""

    model: Name | SkipJsonSchema[None] = Field(None, description="Only plans of this model.", examples=["llama-3-8b"])
    device: Name | SkipJsonSchema[None] = Field(
        None, description="Only plans for this device, by any of its names.", examples=["h100-sxm-80gb"]
    )
    verdict: Literal["fits", "tight", "does_not_fit", "unknown"] | SkipJsonSchema[None] = Field(
        None, description="Only plans with this verdict.", examples=["fits"]
    )
    label: list[Annotated[Name, AfterValidator(_with_value)]] = Field(
        default=[],
        max_length=50,
        description="Only plans with this label, as key=value; repeat it to ask for several at once.",
        examples=[["team=pretraining"]],
    )

    def where(self, devices: Devices) -> PlanFilter:
        """Return the filter as the store takes it, with the device by its id."""
        labels = [(key, value) for key, _, value in (each.partition("=") for each in self.label)]
        device = None if self.device is None else id_of(self.device, devices)
        return PlanFilter(model=self.model, device=device, verdict=self.verdict, labels=labels)
