from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.cell_answer import CellAnswer
    from ..models.difference_answer import DifferenceAnswer
    from ..models.winners_answer import WinnersAnswer


T = TypeVar("T", bound="ComparisonAnswer")


@_attrs_define
class ComparisonAnswer:
    """A stored comparison.

    Attributes:
        sides (list[str]): Names of the sides: ids of plans, then labels of items.
        matrix (list[list[CellAnswer]]): Every side on every target: one list for each side.
        differences (list[DifferenceAnswer]): Fields that differ between the sides.
        winners (WinnersAnswer): The best cells among those that fit, or else among those that fit tightly; null where
            there is none.
        id (str): Id of the comparison; ids sort by the time they were made.
        digest (str): SHA-256 of the canonical question and the method: the same question finds this comparison.
        created_at (datetime.datetime): When it was stored (UTC).
        method_version (str): Version of the memory model that made it.
    """

    sides: list[str]
    matrix: list[list[CellAnswer]]
    differences: list[DifferenceAnswer]
    winners: WinnersAnswer
    id: str
    digest: str
    created_at: datetime.datetime
    method_version: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        sides = self.sides

        matrix = []
        for matrix_item_data in self.matrix:
            matrix_item = []
            for matrix_item_item_data in matrix_item_data:
                matrix_item_item = matrix_item_item_data.to_dict()
                matrix_item.append(matrix_item_item)

            matrix.append(matrix_item)

        differences = []
        for differences_item_data in self.differences:
            differences_item = differences_item_data.to_dict()
            differences.append(differences_item)

        winners = self.winners.to_dict()

        id = self.id

        digest = self.digest

        created_at = self.created_at.isoformat()

        method_version = self.method_version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "sides": sides,
                "matrix": matrix,
                "differences": differences,
                "winners": winners,
                "id": id,
                "digest": digest,
                "created_at": created_at,
                "method_version": method_version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cell_answer import CellAnswer  # noqa: PLC0415
        from ..models.difference_answer import DifferenceAnswer  # noqa: PLC0415
        from ..models.winners_answer import WinnersAnswer  # noqa: PLC0415

        d = dict(src_dict)
        sides = cast(list[str], d.pop("sides"))

        matrix = []
        _matrix = d.pop("matrix")
        for matrix_item_data in _matrix:
            matrix_item = []
            _matrix_item = matrix_item_data
            for matrix_item_item_data in _matrix_item:
                matrix_item_item = CellAnswer.from_dict(matrix_item_item_data)

                matrix_item.append(matrix_item_item)

            matrix.append(matrix_item)

        differences = []
        _differences = d.pop("differences")
        for differences_item_data in _differences:
            differences_item = DifferenceAnswer.from_dict(differences_item_data)

            differences.append(differences_item)

        winners = WinnersAnswer.from_dict(d.pop("winners"))

        id = d.pop("id")

        digest = d.pop("digest")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        method_version = d.pop("method_version")

        comparison_answer = cls(
            sides=sides,
            matrix=matrix,
            differences=differences,
            winners=winners,
            id=id,
            digest=digest,
            created_at=created_at,
            method_version=method_version,
        )

        comparison_answer.additional_properties = d
        return comparison_answer

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
