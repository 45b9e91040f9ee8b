from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.categories import Categories
    from ..models.ledger_line import LedgerLine
    from ..models.stage_moments import StageMoments


T = TypeVar("T", bound="Stage")


@_attrs_define
class Stage:
    """One pipeline stage: what each of its GPUs holds at the stage's worst moment.

    Attributes:
        stage (int): Pipeline rank, from 0.
        layers (list[int]): Indexes of the decoder layers on this stage, chunk by chunk.
        parameters (int): Parameters on one GPU of this stage, before sharding over data-parallel ranks.
        in_flight_microbatches (float): Micro-batches whose activations are held at the peak, in units of the whole
            stage: a chunk counts as a part.
        moment (str): The worst moment, one of the keys of `moments`.
        allocated_bytes (int): What `torch.cuda.max_memory_allocated` would report (bytes).
        reserved_bytes (int): What the caching allocator holds (bytes).
        device_bytes (int): What `nvidia-smi` would show: reserved, context and communicators (bytes).
        moments (StageMoments): Device bytes at every moment of a run, in order of time (bytes); 0 where it does not
            occur on this stage.
        categories (Categories): Bytes of one GPU by what they are for; they sum to the stage's `device_bytes`.
        ledger (list[LedgerLine]): Every line alive at the worst moment; lines of a category sum to that category, to
            the byte.
    """

    stage: int
    layers: list[int]
    parameters: int
    in_flight_microbatches: float
    moment: str
    allocated_bytes: int
    reserved_bytes: int
    device_bytes: int
    moments: StageMoments
    categories: Categories
    ledger: list[LedgerLine]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        stage = self.stage

        layers = self.layers

        parameters = self.parameters

        in_flight_microbatches = self.in_flight_microbatches

        moment = self.moment

        allocated_bytes = self.allocated_bytes

        reserved_bytes = self.reserved_bytes

        device_bytes = self.device_bytes

        moments = self.moments.to_dict()

        categories = self.categories.to_dict()

        ledger = []
        for ledger_item_data in self.ledger:
            ledger_item = ledger_item_data.to_dict()
            ledger.append(ledger_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "stage": stage,
                "layers": layers,
                "parameters": parameters,
                "in_flight_microbatches": in_flight_microbatches,
                "moment": moment,
                "allocated_bytes": allocated_bytes,
                "reserved_bytes": reserved_bytes,
                "device_bytes": device_bytes,
                "moments": moments,
                "categories": categories,
                "ledger": ledger,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.categories import Categories  # noqa: PLC0415
        from ..models.ledger_line import LedgerLine  # noqa: PLC0415
        from ..models.stage_moments import StageMoments  # noqa: PLC0415

        d = dict(src_dict)
        stage = d.pop("stage")

        layers = cast(list[int], d.pop("layers"))

        parameters = d.pop("parameters")

        in_flight_microbatches = d.pop("in_flight_microbatches")

        moment = d.pop("moment")

        allocated_bytes = d.pop("allocated_bytes")

        reserved_bytes = d.pop("reserved_bytes")

        device_bytes = d.pop("device_bytes")

        moments = StageMoments.from_dict(d.pop("moments"))

        categories = Categories.from_dict(d.pop("categories"))

        ledger = []
        _ledger = d.pop("ledger")
        for ledger_item_data in _ledger:
            ledger_item = LedgerLine.from_dict(ledger_item_data)

            ledger.append(ledger_item)

        stage = cls(
            stage=stage,
            layers=layers,
            parameters=parameters,
            in_flight_microbatches=in_flight_microbatches,
            moment=moment,
            allocated_bytes=allocated_bytes,
            reserved_bytes=reserved_bytes,
            device_bytes=device_bytes,
            moments=moments,
            categories=categories,
            ledger=ledger,
        )

        stage.additional_properties = d
        return stage

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
