from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.cluster_request import ClusterRequest
    from ..models.config_source import ConfigSource
    from ..models.search_request import SearchRequest
    from ..models.source_plan_request_labels import SourcePlanRequestLabels


T = TypeVar("T", bound="SourcePlanRequest")


@_attrs_define
class SourcePlanRequest:
    """Layouts of a job that is read from a config, on a cluster.

    Attributes:
        cluster (ClusterRequest): The GPUs that the plan is for.
        source (ConfigSource): A training config in the form its owner has it; nothing in it is executed, sourced or
            fetched.
        search (SearchRequest | Unset): Limits of the search: an axis that is named here is searched even where the job
            states a value.

            A list holds the values to try; `any` stands for every value that the framework and the cluster allow, `usual`
            for
            what is searched where the axis is null here and in the job. For microbatch_group_size, cross_entropy and
            optimizer_offload that is the framework's default alone.
        objective (Literal['step_time'] | Unset): What the ranking is by: the time of an optimizer step; within 5 % the
            larger margin, then fewer changes. Default: 'step_time'.
        top (int | Unset): Number of candidates to return. Default: 10.
        labels (SourcePlanRequestLabels | Unset): Labels to find the plan by; part of the question.
        expires_at (datetime.datetime | None | Unset): When the plan may be removed (RFC 3339); null: as the service's
            settings say. No part of the question: who asks
            again finds the same plan, and can only keep it longer.
        pinned (bool | Unset): Whether it is kept for good, whatever else is said. Default: False.
        use_observations (bool | Unset): Whether observed runs are used; false asks for what is said without them.
            Default: True.
    """

    cluster: ClusterRequest
    source: ConfigSource
    search: SearchRequest | Unset = UNSET
    objective: Literal["step_time"] | Unset = "step_time"
    top: int | Unset = 10
    labels: SourcePlanRequestLabels | Unset = UNSET
    expires_at: datetime.datetime | None | Unset = UNSET
    pinned: bool | Unset = False
    use_observations: bool | Unset = True

    def to_dict(self) -> dict[str, Any]:
        cluster = self.cluster.to_dict()

        source = self.source.to_dict()

        search: dict[str, Any] | Unset = UNSET
        if not isinstance(self.search, Unset):
            search = self.search.to_dict()

        objective = self.objective

        top = self.top

        labels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.labels, Unset):
            labels = self.labels.to_dict()

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        elif isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        pinned = self.pinned

        use_observations = self.use_observations

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "cluster": cluster,
                "source": source,
            }
        )
        if search is not UNSET:
            field_dict["search"] = search
        if objective is not UNSET:
            field_dict["objective"] = objective
        if top is not UNSET:
            field_dict["top"] = top
        if labels is not UNSET:
            field_dict["labels"] = labels
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if pinned is not UNSET:
            field_dict["pinned"] = pinned
        if use_observations is not UNSET:
            field_dict["use_observations"] = use_observations

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cluster_request import ClusterRequest  # noqa: PLC0415
        from ..models.config_source import ConfigSource  # noqa: PLC0415
        from ..models.search_request import SearchRequest  # noqa: PLC0415
        from ..models.source_plan_request_labels import SourcePlanRequestLabels  # noqa: PLC0415

        d = dict(src_dict)
        cluster = ClusterRequest.from_dict(d.pop("cluster"))

        source = ConfigSource.from_dict(d.pop("source"))

        _search = d.pop("search", UNSET)
        search: SearchRequest | Unset
        if isinstance(_search, Unset):
            search = UNSET
        else:
            search = SearchRequest.from_dict(_search)

        objective = cast(Literal["step_time"] | Unset, d.pop("objective", UNSET))
        if objective != "step_time" and not isinstance(objective, Unset):
            raise ValueError(
                f"objective must match const 'step_time', got '{objective}'"
            )

        top = d.pop("top", UNSET)

        _labels = d.pop("labels", UNSET)
        labels: SourcePlanRequestLabels | Unset
        if isinstance(_labels, Unset):
            labels = UNSET
        else:
            labels = SourcePlanRequestLabels.from_dict(_labels)

        def _parse_expires_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        expires_at = _parse_expires_at(d.pop("expires_at", UNSET))

        pinned = d.pop("pinned", UNSET)

        use_observations = d.pop("use_observations", UNSET)

        source_plan_request = cls(
            cluster=cluster,
            source=source,
            search=search,
            objective=objective,
            top=top,
            labels=labels,
            expires_at=expires_at,
            pinned=pinned,
            use_observations=use_observations,
        )

        return source_plan_request
