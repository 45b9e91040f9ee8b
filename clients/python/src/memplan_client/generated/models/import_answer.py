from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.import_answer_outcome import (
    ImportAnswerOutcome,
    check_import_answer_outcome,
)

if TYPE_CHECKING:
    from ..models.diagnostic_answer import DiagnosticAnswer
    from ..models.import_answer_sources import ImportAnswerSources
    from ..models.job import Job
    from ..models.missing import Missing


T = TypeVar("T", bound="ImportAnswer")


@_attrs_define
class ImportAnswer:
    """What is understood of a config, and what is not.

    Attributes:
        outcome (ImportAnswerOutcome): `ok`: an estimate can be made of it; `incomplete`: facts are missing; `invalid`:
            rules are broken.
        format_ (str): The dialect that it was read in; `unknown` when it is in none.
        confidence (float): How sure the detection of the dialect is (0 to 1).
        job (Job | None): The canonical job, as far as it is known; null when nothing could be read.
        sources (ImportAnswerSources): Where each value of the job came from, by JSON Pointer.
        missing (list[Missing]): Facts that nothing says.
        diagnostics (list[DiagnosticAnswer]): Everything that was found, errors first.
        unknown (list[str]): Keys and flags that the dialect does not know.
    """

    outcome: ImportAnswerOutcome
    format_: str
    confidence: float
    job: Job | None
    sources: ImportAnswerSources
    missing: list[Missing]
    diagnostics: list[DiagnosticAnswer]
    unknown: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.job import Job  # noqa: PLC0415

        outcome: str = self.outcome

        format_ = self.format_

        confidence = self.confidence

        job: dict[str, Any] | None
        if isinstance(self.job, Job):
            job = self.job.to_dict()
        else:
            job = self.job

        sources = self.sources.to_dict()

        missing = []
        for missing_item_data in self.missing:
            missing_item = missing_item_data.to_dict()
            missing.append(missing_item)

        diagnostics = []
        for diagnostics_item_data in self.diagnostics:
            diagnostics_item = diagnostics_item_data.to_dict()
            diagnostics.append(diagnostics_item)

        unknown = self.unknown

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "outcome": outcome,
                "format": format_,
                "confidence": confidence,
                "job": job,
                "sources": sources,
                "missing": missing,
                "diagnostics": diagnostics,
                "unknown": unknown,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.diagnostic_answer import DiagnosticAnswer  # noqa: PLC0415
        from ..models.import_answer_sources import ImportAnswerSources  # noqa: PLC0415
        from ..models.job import Job  # noqa: PLC0415
        from ..models.missing import Missing  # noqa: PLC0415

        d = dict(src_dict)
        outcome = check_import_answer_outcome(d.pop("outcome"))

        format_ = d.pop("format")

        confidence = d.pop("confidence")

        def _parse_job(data: object) -> Job | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                job_type_0 = Job.from_dict(data)

                return job_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Job | None, data)

        job = _parse_job(d.pop("job"))

        sources = ImportAnswerSources.from_dict(d.pop("sources"))

        missing = []
        _missing = d.pop("missing")
        for missing_item_data in _missing:
            missing_item = Missing.from_dict(missing_item_data)

            missing.append(missing_item)

        diagnostics = []
        _diagnostics = d.pop("diagnostics")
        for diagnostics_item_data in _diagnostics:
            diagnostics_item = DiagnosticAnswer.from_dict(diagnostics_item_data)

            diagnostics.append(diagnostics_item)

        unknown = cast(list[str], d.pop("unknown"))

        import_answer = cls(
            outcome=outcome,
            format_=format_,
            confidence=confidence,
            job=job,
            sources=sources,
            missing=missing,
            diagnostics=diagnostics,
            unknown=unknown,
        )

        import_answer.additional_properties = d
        return import_answer

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
