from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RefusalAnswer")


@_attrs_define
class RefusalAnswer:
    """A job that a policy refused, or would have refused if it were enforced.

    Attributes:
        id (str): Id of the record.
        mode (str): The policy's mode then.
        rules (list[str]): The rules that it breaks.
        reason (str): Why, for people.
        reference (None | str): The caller's own name of the job.
        device (str): Id of the device.
        world_size (int | None): Number of GPUs; null when nothing states it.
        verdict (str): The verdict on it.
        peak_bytes (int | None): What the worst GPU would hold (bytes); null when it could not be computed.
        usable_bytes (int | None): Memory that it could use (bytes).
        digest (None | str): SHA-256 of the job, the device and the method, as in the verdict.
        count (int): How often it was asked for.
        created_at (datetime.datetime): When it was first asked for (RFC 3339).
        last_at (datetime.datetime): When it was last asked for (RFC 3339).
    """

    id: str
    mode: str
    rules: list[str]
    reason: str
    reference: None | str
    device: str
    world_size: int | None
    verdict: str
    peak_bytes: int | None
    usable_bytes: int | None
    digest: None | str
    count: int
    created_at: datetime.datetime
    last_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        mode = self.mode

        rules = self.rules

        reason = self.reason

        reference: None | str
        reference = self.reference

        device = self.device

        world_size: int | None
        world_size = self.world_size

        verdict = self.verdict

        peak_bytes: int | None
        peak_bytes = self.peak_bytes

        usable_bytes: int | None
        usable_bytes = self.usable_bytes

        digest: None | str
        digest = self.digest

        count = self.count

        created_at = self.created_at.isoformat()

        last_at = self.last_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "mode": mode,
                "rules": rules,
                "reason": reason,
                "reference": reference,
                "device": device,
                "world_size": world_size,
                "verdict": verdict,
                "peak_bytes": peak_bytes,
                "usable_bytes": usable_bytes,
                "digest": digest,
                "count": count,
                "created_at": created_at,
                "last_at": last_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        mode = d.pop("mode")

        rules = cast(list[str], d.pop("rules"))

        reason = d.pop("reason")

        def _parse_reference(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reference = _parse_reference(d.pop("reference"))

        device = d.pop("device")

        def _parse_world_size(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        world_size = _parse_world_size(d.pop("world_size"))

        verdict = d.pop("verdict")

        def _parse_peak_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        peak_bytes = _parse_peak_bytes(d.pop("peak_bytes"))

        def _parse_usable_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        usable_bytes = _parse_usable_bytes(d.pop("usable_bytes"))

        def _parse_digest(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        digest = _parse_digest(d.pop("digest"))

        count = d.pop("count")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        last_at = datetime.datetime.fromisoformat(d.pop("last_at"))

        refusal_answer = cls(
            id=id,
            mode=mode,
            rules=rules,
            reason=reason,
            reference=reference,
            device=device,
            world_size=world_size,
            verdict=verdict,
            peak_bytes=peak_bytes,
            usable_bytes=usable_bytes,
            digest=digest,
            count=count,
            created_at=created_at,
            last_at=last_at,
        )

        refusal_answer.additional_properties = d
        return refusal_answer

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
