"""Stored observations: what runs measured, one for each run, with what was predicted of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Select, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, defer, selectinload

from service.calibration.observed import Group
from service.store.errors import NotFound
from service.store.ids import id_text, new_id, parse_id
from service.store.once import add_or_find
from service.store.paging import Order, Page, page
from service.store.session import WriteSession
from service.store.tables import ObservationGroupRow, ObservationRow, PredictionRow

PREFIX = "obs"

Meter = Literal["torch", "nvidia-smi", "scheduler"]
"""Who measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a run measured on a stage (None: the worst one); `oom` is None where only bytes or a time are known."""

    source: Meter
    stage: int | None = None
    allocated_bytes: int | None = None
    reserved_bytes: int | None = None
    device_bytes: int | None = None
    oom: bool | None = None
    step_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """What one version of the method says of the same stage.

    `step_grid` are the seconds of a step at every pair of factors that a fit of step times tries, in order; only there
    where a step was timed.
    """

    method_version: str
    made_at: datetime
    stage: int
    allocated_bytes: int
    reserved_bytes: int
    device_bytes: int
    step_seconds: float | None = None
    step_grid: Sequence[float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _ObservationFacts:
    run_id: str
    fingerprint: str
    group: Group
    gpus_per_node: int
    profile: str
    plan: str | None
    candidate: int | None
    digest: str
    verdict: Literal["fits", "tight", "does_not_fit", "unknown"]
    usable_bytes: int | None
    measured: Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class NewObservation(_ObservationFacts):
    """An observation to be stored.

    `fingerprint` tells whether the same was sent before, `digest` is that of the job's estimate, `job` has every
    default written out, and `verdict` is what was said before the run.
    """

    job: Mapping[str, Any]
    predicted: Predicted


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObservationSummary(_ObservationFacts):
    """A stored observation as lists show it; `predicted` has what each version of the method says, oldest first."""

    id: str
    created_at: datetime
    predicted: tuple[Predicted, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObservation(StoredObservationSummary):
    """A stored observation with its job."""

    job: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationFilter:
    """Which observations a list shows; None admits all."""

    run_id: str | None = None
    framework: str | None = None
    device: str | None = None
    plan: str | None = None
    oom: bool | None = None


def create(session: WriteSession, new: NewObservation, at: datetime | None = None) -> tuple[StoredObservation, bool]:
    """Store an observation made at this moment (default: now); return it and True, or that of its run and False."""
    stored = get_by_run(session, new.run_id)
    if stored is not None:
        return stored, False
    row = _new_row(new, at or datetime.now(UTC))
    stored = add_or_find(session, row, lambda: get_by_run(session, new.run_id))
    if stored is not None:
        return stored, False
    _grow(session, new.group)
    return _stored(row), True


def get(session: Session, observation_id: str) -> StoredObservation:
    """Return the observation of this id (as clients see it). Raises NotFound."""
    wanted = parse_id(PREFIX, observation_id)
    row = None if wanted is None else session.scalar(_whole().where(ObservationRow.id == wanted))
    if row is None:
        raise NotFound("observation", observation_id)
    return _stored(row)


def get_by_run(session: Session, run_id: str) -> StoredObservation | None:
    """Return the observation of a run, or None when it has none."""
    row = session.scalar(_whole().where(ObservationRow.run_id == run_id))
    return None if row is None else _stored(row)


def delete(session: WriteSession, observation_id: str) -> None:
    """Remove the observation of this id (as clients see it). Raises NotFound."""
    wanted = parse_id(PREFIX, observation_id)
    row = None if wanted is None else session.get(ObservationRow, wanted)
    if row is None:
        raise NotFound("observation", observation_id)
    session.delete(row)
    _grow(session, _group(row))


def list_page(
    session: Session, where: ObservationFilter, limit: int, cursor: str | None = None
) -> Page[StoredObservationSummary]:
    """Return up to `limit` observations that the filter admits, newest first, from the cursor on.

    Raises InvalidCursor.
    """
    statement = _without_jobs()
    for name in ObservationFilter.__dataclass_fields__:
        wanted = getattr(where, name)
        if wanted is not None:
            statement = statement.where(getattr(ObservationRow, name) == wanted)
    return page(session, statement, Order(ObservationRow.created_at, ObservationRow.id), limit, cursor, _summary)


def generations(session: Session) -> dict[Group, int]:
    """Return a number for every group with observations, which grows whenever its observations change."""
    rows = session.scalars(select(ObservationGroupRow)).all()
    return {Group(row.framework, row.implementation, row.device): row.generation for row in rows}


def newest(
    session: Session, group: Group, most: int, known: Iterable[StoredObservationSummary] = ()
) -> list[StoredObservationSummary]:
    """Return the newest observations of a group, newest first; those that are known already are not read again."""
    statement = (
        select(ObservationRow.id, func.count(PredictionRow.method_version))
        .outerjoin(PredictionRow)
        .where(
            ObservationRow.framework == group.framework,
            ObservationRow.implementation == group.implementation,
            ObservationRow.device == group.device,
        )
        .group_by(ObservationRow.created_at, ObservationRow.id)
        .order_by(ObservationRow.created_at.desc(), ObservationRow.id.desc())
        .limit(most)
    )
    counts = {id_text(PREFIX, each): count for each, count in session.execute(statement)}
    found = {each.id: each for each in known if counts.get(each.id) == len(each.predicted)}
    unknown = [parse_id(PREFIX, each) for each in counts if each not in found]
    if unknown:
        rows = session.scalars(_without_jobs().where(ObservationRow.id.in_(unknown)))
        found.update((each.id, each) for each in map(_summary, rows))
    return [found[each] for each in counts if each in found]


def outdated(session: Session, method_version: str, after: str | None, most: int) -> list[StoredObservation]:
    """Return observations that this version of the method has said nothing of, in order of their ids."""
    known = select(PredictionRow.observation_id).where(
        PredictionRow.observation_id == ObservationRow.id, PredictionRow.method_version == method_version
    )
    statement = _whole().where(~known.exists()).order_by(ObservationRow.id).limit(most)
    if after is not None:
        statement = statement.where(ObservationRow.id > parse_id(PREFIX, after))
    return [_stored(row) for row in session.scalars(statement).all()]


def predict_again(session: WriteSession, observation: StoredObservation, predicted: Predicted) -> None:
    """Store what another version of the method says of an observation; what was removed or is known stays so."""
    wanted = parse_id(PREFIX, observation.id)
    row = session.get(ObservationRow, wanted, with_for_update=True)
    if row is None or session.get(PredictionRow, (wanted, predicted.method_version)) is not None:
        return
    session.add(PredictionRow(observation_id=wanted, **_values(predicted, Predicted)))
    session.flush()
    _grow(session, observation.group)


def _whole() -> Select[ObservationRow]:
    return select(ObservationRow).options(selectinload(ObservationRow.predictions))


def _without_jobs() -> Select[ObservationRow]:
    return _whole().options(defer(ObservationRow.job, raiseload=True))


def _grow(session: WriteSession, group: Group) -> None:
    key = _values(group, Group)
    row = session.get(ObservationGroupRow, tuple(key.values()), with_for_update=True)
    if row is None:
        try:
            with session.begin_nested():
                session.add(ObservationGroupRow(**key, generation=1))
        except IntegrityError:
            # On PostgreSQL another transaction may have begun the group since we looked.
            row = session.get_one(ObservationGroupRow, tuple(key.values()), with_for_update=True)
    if row is not None:
        row.generation += 1
    session.flush()


def _new_row(new: NewObservation, at: datetime) -> ObservationRow:
    plain = {name: getattr(new, name) for name in _PLAIN}
    return ObservationRow(
        id=new_id(at),
        created_at=at,
        job=dict(new.job),
        predictions=[PredictionRow(**_values(new.predicted, Predicted))],
        **plain,
        **_values(new.group, Group),
        **_values(new.measured, Measured),
    )


_PLAIN = tuple(name for name in _ObservationFacts.__dataclass_fields__ if name not in {"group", "measured"})


def _values(found: Any, kind: type[Any]) -> dict[str, Any]:
    return {name: getattr(found, name) for name in kind.__dataclass_fields__}


def _summary(row: ObservationRow) -> StoredObservationSummary:
    return StoredObservationSummary(**_facts(row))


def _stored(row: ObservationRow) -> StoredObservation:
    return StoredObservation(**_facts(row), job=row.job)


def _group(row: ObservationRow) -> Group:
    return Group(**_values(row, Group))


def _facts(row: ObservationRow) -> dict[str, Any]:
    return {
        "id": id_text(PREFIX, row.id),
        "created_at": row.created_at,
        "group": _group(row),
        "measured": Measured(**_values(row, Measured)),
        "predicted": tuple(Predicted(**_values(each, Predicted)) for each in row.predictions),
        **{name: getattr(row, name) for name in _PLAIN},
    }
