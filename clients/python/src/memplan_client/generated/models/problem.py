from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.fault import Fault
    from ..models.missing import Missing


T = TypeVar("T", bound="Problem")


@_attrs_define
class Problem:
    """An error, as `application/problem+json` (RFC 9457).

    Attributes:
        type_ (str): Where this kind of problem is explained, relative to this service.
        title (str): The kind of problem, for people; the same for every occurrence.
        status (int): HTTP status, repeated here for those who see the body only.
        detail (str): This occurrence, for people.
        instance (str): Path of the request.
        code (str): Stable name of the kind of problem, for programs.
        request_id (str): Id of this request, as in the header X-Request-Id and in the service's log.
        errors (list[Fault] | Unset): Everything that is wrong with the request, not only the first thing.
        missing (list[Missing] | None | Unset): Facts that an incomplete job does not state.
    """

    type_: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    request_id: str
    errors: list[Fault] | Unset = UNSET
    missing: list[Missing] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        title = self.title

        status = self.status

        detail = self.detail

        instance = self.instance

        code = self.code

        request_id = self.request_id

        errors: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.errors, Unset):
            errors = []
            for errors_item_data in self.errors:
                errors_item = errors_item_data.to_dict()
                errors.append(errors_item)

        missing: list[dict[str, Any]] | None | Unset
        if isinstance(self.missing, Unset):
            missing = UNSET
        elif isinstance(self.missing, list):
            missing = []
            for missing_type_0_item_data in self.missing:
                missing_type_0_item = missing_type_0_item_data.to_dict()
                missing.append(missing_type_0_item)

        else:
            missing = self.missing

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "title": title,
                "status": status,
                "detail": detail,
                "instance": instance,
                "code": code,
                "request_id": request_id,
            }
        )
        if errors is not UNSET:
            field_dict["errors"] = errors
        if missing is not UNSET:
            field_dict["missing"] = missing

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.fault import Fault  # noqa: PLC0415
        from ..models.missing import Missing  # noqa: PLC0415

        d = dict(src_dict)
        type_ = d.pop("type")

        title = d.pop("title")

        status = d.pop("status")

        detail = d.pop("detail")

        instance = d.pop("instance")

        code = d.pop("code")

        request_id = d.pop("request_id")

        _errors = d.pop("errors", UNSET)
        errors: list[Fault] | Unset = UNSET
        if _errors is not UNSET:
            errors = []
            for errors_item_data in _errors:
                errors_item = Fault.from_dict(errors_item_data)

                errors.append(errors_item)

        def _parse_missing(data: object) -> list[Missing] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                missing_type_0 = []
                _missing_type_0 = data
                for missing_type_0_item_data in _missing_type_0:
                    missing_type_0_item = Missing.from_dict(missing_type_0_item_data)

                    missing_type_0.append(missing_type_0_item)

                return missing_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Missing] | None | Unset, data)

        missing = _parse_missing(d.pop("missing", UNSET))

        problem = cls(
            type_=type_,
            title=title,
            status=status,
            detail=detail,
            instance=instance,
            code=code,
            request_id=request_id,
            errors=errors,
            missing=missing,
        )

        problem.additional_properties = d
        return problem

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
