from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.operation_error import OperationError
    from ..models.operation_progress import OperationProgress


T = TypeVar("T", bound="OperationAnswer")


@_attrs_define
class OperationAnswer:
    """Work that takes longer than its request, and how far it is.

    Attributes:
        id (str): Id of the operation.
        kind (str): What is being made.
        state (str): `waiting` (for its turn) or `running`, then for good `succeeded`, `failed` or `cancelled`.
        progress (OperationProgress): How far the work is.
        cancel_requested (bool): Whether it was asked to end; a search ends after the block of layouts that it is at.
        result (None | str): Where the result is, once it succeeded.
        error (None | OperationError): Why it has no result; null unless it failed, or was cancelled because the service
            was stopped.
        digest (str): SHA-256 of the question; the result has the same.
        created_at (datetime.datetime): When it was stored (UTC).
        updated_at (datetime.datetime): When its progress was last reported (UTC).
        finished_at (datetime.datetime | None): When it ended (UTC); null before.
    """

    id: str
    kind: str
    state: str
    progress: OperationProgress
    cancel_requested: bool
    result: None | str
    error: None | OperationError
    digest: str
    created_at: datetime.datetime
    updated_at: datetime.datetime
    finished_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.operation_error import OperationError  # noqa: PLC0415

        id = self.id

        kind = self.kind

        state = self.state

        progress = self.progress.to_dict()

        cancel_requested = self.cancel_requested

        result: None | str
        result = self.result

        error: dict[str, Any] | None
        if isinstance(self.error, OperationError):
            error = self.error.to_dict()
        else:
            error = self.error

        digest = self.digest

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        finished_at: None | str
        if isinstance(self.finished_at, datetime.datetime):
            finished_at = self.finished_at.isoformat()
        else:
            finished_at = self.finished_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "kind": kind,
                "state": state,
                "progress": progress,
                "cancel_requested": cancel_requested,
                "result": result,
                "error": error,
                "digest": digest,
                "created_at": created_at,
                "updated_at": updated_at,
                "finished_at": finished_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.operation_error import OperationError  # noqa: PLC0415
        from ..models.operation_progress import OperationProgress  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        kind = d.pop("kind")

        state = d.pop("state")

        progress = OperationProgress.from_dict(d.pop("progress"))

        cancel_requested = d.pop("cancel_requested")

        def _parse_result(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        result = _parse_result(d.pop("result"))

        def _parse_error(data: object) -> None | OperationError:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = OperationError.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OperationError, data)

        error = _parse_error(d.pop("error"))

        digest = d.pop("digest")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_finished_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                finished_at_type_0 = datetime.datetime.fromisoformat(data)

                return finished_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))

        operation_answer = cls(
            id=id,
            kind=kind,
            state=state,
            progress=progress,
            cancel_requested=cancel_requested,
            result=result,
            error=error,
            digest=digest,
            created_at=created_at,
            updated_at=updated_at,
            finished_at=finished_at,
        )

        operation_answer.additional_properties = d
        return operation_answer

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
