from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.scope import Scope, check_scope

T = TypeVar("T", bound="LedgerLine")


@_attrs_define
class LedgerLine:
    """Tensors of one kind that one GPU holds at the stage's worst moment.

    Attributes:
        name (str): What it is, from the part of the model outwards.
        category (str): One of the keys of `categories`.
        shape (list[int]): Shape of one tensor on one GPU (elements).
        dtype (str): Type of one element.
        count (int): How many such tensors are held: layers times micro-batches in flight, for example.
        bytes_ (int): Elements of the shape, times the width of the dtype, times the count (bytes).
        sharded_by (list[str]): Kinds of parallelism that divide it.
        alive (list[str]): Moments of the step at which it is held.
        scope (Scope): Who sees a line: the tensors' total, the caching allocator, or only the driver.
        modelled (bool): Whether it is an estimate of what no rule gives exactly: context, communicators, workspaces,
            allocator.
        source (str): Where its shape and lifetime come from.
    """

    name: str
    category: str
    shape: list[int]
    dtype: str
    count: int
    bytes_: int
    sharded_by: list[str]
    alive: list[str]
    scope: Scope
    modelled: bool
    source: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        category = self.category

        shape = self.shape

        dtype = self.dtype

        count = self.count

        bytes_ = self.bytes_

        sharded_by = self.sharded_by

        alive = self.alive

        scope: str = self.scope

        modelled = self.modelled

        source = self.source

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "category": category,
                "shape": shape,
                "dtype": dtype,
                "count": count,
                "bytes": bytes_,
                "sharded_by": sharded_by,
                "alive": alive,
                "scope": scope,
                "modelled": modelled,
                "source": source,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        category = d.pop("category")

        shape = cast(list[int], d.pop("shape"))

        dtype = d.pop("dtype")

        count = d.pop("count")

        bytes_ = d.pop("bytes")

        sharded_by = cast(list[str], d.pop("sharded_by"))

        alive = cast(list[str], d.pop("alive"))

        scope = check_scope(d.pop("scope"))

        modelled = d.pop("modelled")

        source = d.pop("source")

        ledger_line = cls(
            name=name,
            category=category,
            shape=shape,
            dtype=dtype,
            count=count,
            bytes_=bytes_,
            sharded_by=sharded_by,
            alive=alive,
            scope=scope,
            modelled=modelled,
            source=source,
        )

        ledger_line.additional_properties = d
        return ledger_line

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
