"""The tables. Rows stay inside the store; the layers above see the frozen dataclasses of its other modules."""

from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import JSON, BigInteger, CheckConstraint, ForeignKey, Index, MetaData, Text, Uuid, false
from sqlalchemy.orm import DeclarativeBase, Mapped, attribute_keyed_dict, mapped_column, relationship

from service.store.types import UtcDateTime

# Every column is in the name, so that a name never changes its meaning when a second index comes.
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

# Documents are read whole and never searched inside, so PostgreSQL keeps them as `json`: there `jsonb` was seen to
# reorder keys, to return 1e22 as an integer and to refuse "\u0000", all of which SQLite stores as written.
Document = JSON(none_as_null=True)


class Base(DeclarativeBase):
    """What all tables share."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it from the class
        str: Text(),
        UUID: Uuid(),
        datetime: UtcDateTime(),
        dict[str, Any]: Document,
    }


class PlanRow(Base):
    """A stored plan: what lists and filters ask for as columns, question and answer as documents."""

    __tablename__ = "plans"
    __table_args__ = (
        CheckConstraint("verdict IN ('fits', 'tight', 'does_not_fit', 'unknown')", name="verdict"),
        CheckConstraint("world_size > 0", name="world_size"),
        CheckConstraint("peak_device_bytes >= 0", name="peak_device_bytes"),
        # One index for each way to list plans, newest first: a page costs the same at any depth.
        Index(None, "created_at", "id"),
        Index(None, "model", "created_at", "id"),
        Index(None, "device", "created_at", "id"),
        Index(None, "verdict", "created_at", "id"),
        # To forget those whose time has come.
        Index(None, "expires_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    model: Mapped[str]
    device: Mapped[str]
    world_size: Mapped[int]
    verdict: Mapped[str]
    best_step_seconds: Mapped[float | None]
    peak_device_bytes: Mapped[int | None] = mapped_column(BigInteger())
    request: Mapped[dict[str, Any]]
    answer: Mapped[dict[str, Any]]
    schema_version: Mapped[int]
    method_version: Mapped[str]
    expires_at: Mapped[datetime | None]
    pinned: Mapped[bool] = mapped_column(server_default=false())

    labels: Mapped[dict[str, "PlanLabelRow"]] = relationship(
        collection_class=attribute_keyed_dict("key"), passive_deletes=True, cascade="all, delete-orphan", lazy="raise"
    )


class PlanLabelRow(Base):
    """One label of a plan: rows rather than a document, because lists are filtered by them."""

    __tablename__ = "plan_labels"
    __table_args__ = (Index(None, "key", "value", "created_at", "plan_id"),)

    plan_id: Mapped[UUID] = mapped_column(ForeignKey("plans.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]
    # The plan's, so that a list by label is in order without a look at all plans.
    created_at: Mapped[datetime]


class OperationRow(Base):
    """Long work that callers follow: how far it is, and how it ended."""

    __tablename__ = "operations"
    __table_args__ = (
        CheckConstraint("state IN ('waiting', 'running', 'succeeded', 'failed', 'cancelled')", name="state"),
        # What a process looks for when it starts: work that nobody does any more.
        Index(None, "state", "updated_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    kind: Mapped[str]
    state: Mapped[str]
    digest: Mapped[str]
    version: Mapped[int]
    done: Mapped[int] = mapped_column(BigInteger())
    total: Mapped[int | None] = mapped_column(BigInteger())
    cancel_requested: Mapped[bool]
    result: Mapped[str | None]
    error_code: Mapped[str | None]
    error_detail: Mapped[str | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class KeyRow(Base):
    """A key that makes a creating request safe to repeat, and the end of that request."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (
        CheckConstraint("outcome IN ('created', 'found', 'begun')", name="outcome"),
        # To forget the old ones.
        Index(None, "created_at"),
    )

    caller: Mapped[str] = mapped_column(primary_key=True)
    route: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    claim: Mapped[UUID] = mapped_column(unique=True)
    fingerprint: Mapped[str]
    outcome: Mapped[Literal["created", "found", "begun"] | None] = mapped_column(Text())
    made: Mapped[str | None]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class ComparisonRow(Base):
    """A stored comparison: question and answer as documents."""

    __tablename__ = "comparisons"
    __table_args__ = (Index(None, "created_at", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    sides: Mapped[int]
    targets: Mapped[int]
    request: Mapped[dict[str, Any]]
    answer: Mapped[dict[str, Any]]
    schema_version: Mapped[int]
    method_version: Mapped[str]


class ObservationGroupRow(Base):
    """Runs that are judged together; `generation` grows whenever what is stored of them changes."""

    __tablename__ = "observation_groups"

    framework: Mapped[str] = mapped_column(primary_key=True)
    implementation: Mapped[str] = mapped_column(primary_key=True)
    device: Mapped[str] = mapped_column(primary_key=True)
    generation: Mapped[int] = mapped_column(BigInteger())


class ObservationRow(Base):
    """What a run measured, with the job that it ran and what was said of it before."""

    __tablename__ = "observations"
    __table_args__ = (
        CheckConstraint("source IN ('torch', 'nvidia-smi', 'scheduler')", name="source"),
        CheckConstraint("verdict IN ('fits', 'tight', 'does_not_fit', 'unknown')", name="verdict"),
        Index(None, "created_at", "id"),
        Index(None, "device", "created_at", "id"),
        Index(None, "plan", "created_at", "id"),
        # The newest runs of a group, which are what its calibration is made from.
        Index(None, "framework", "implementation", "device", "created_at", "id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    run_id: Mapped[str] = mapped_column(unique=True)
    fingerprint: Mapped[str]
    created_at: Mapped[datetime]
    framework: Mapped[str]
    implementation: Mapped[str]
    device: Mapped[str]
    gpus_per_node: Mapped[int]
    profile: Mapped[str]
    plan: Mapped[str | None]
    candidate: Mapped[int | None]
    job: Mapped[dict[str, Any]]
    digest: Mapped[str]
    verdict: Mapped[str]
    usable_bytes: Mapped[int | None] = mapped_column(BigInteger())
    source: Mapped[str]
    stage: Mapped[int | None]
    allocated_bytes: Mapped[int | None] = mapped_column(BigInteger())
    reserved_bytes: Mapped[int | None] = mapped_column(BigInteger())
    device_bytes: Mapped[int | None] = mapped_column(BigInteger())
    oom: Mapped[bool | None]
    step_seconds: Mapped[float | None]

    predictions: Mapped[list["PredictionRow"]] = relationship(
        passive_deletes=True, cascade="all, delete-orphan", lazy="raise", order_by="PredictionRow.made_at"
    )


class PredictionRow(Base):
    """What one version of the method predicts of an observed run, on the stage that was measured."""

    __tablename__ = "observation_predictions"

    observation_id: Mapped[UUID] = mapped_column(ForeignKey("observations.id", ondelete="CASCADE"), primary_key=True)
    method_version: Mapped[str] = mapped_column(primary_key=True)
    made_at: Mapped[datetime]
    stage: Mapped[int]
    allocated_bytes: Mapped[int] = mapped_column(BigInteger())
    reserved_bytes: Mapped[int] = mapped_column(BigInteger())
    device_bytes: Mapped[int] = mapped_column(BigInteger())
    step_seconds: Mapped[float | None]
    step_grid: Mapped[list[float] | None] = mapped_column(Document)


class TokenRow(Base):
    """A bearer token: what it may do and until when; of the secret itself only the digest and the first characters."""

    __tablename__ = "tokens"
    __table_args__ = (CheckConstraint("scopes <> ''", name="scopes"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str]
    hint: Mapped[str]
    sha256: Mapped[str] = mapped_column(unique=True)
    scopes: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class DefinitionRow(Base):
    """What an operator says of something, as a document."""

    __abstract__ = True

    id: Mapped[str] = mapped_column(primary_key=True)
    definition: Mapped[dict[str, Any]]
    updated_at: Mapped[datetime]


class DeviceRow(DefinitionRow):
    """What an operator says of a device, over the catalogue or beside it."""

    __tablename__ = "devices"


class PolicyRow(DefinitionRow):
    """What an operator lets the jobs of a queue do."""

    __tablename__ = "policies"


class RefusalRow(Base):
    """A job that a queue's policy refuses, or would refuse if it were enforced; asked again, it is counted."""

    __tablename__ = "refusals"
    __table_args__ = (
        CheckConstraint("mode IN ('enforce', 'warn', 'shadow')", name="mode"),
        Index(None, "queue", "created_at", "id"),
        # To forget the old ones.
        Index(None, "last_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    queue: Mapped[str]
    # What makes it the same refusal.
    fingerprint: Mapped[str] = mapped_column(unique=True)
    mode: Mapped[str]
    rules: Mapped[str]
    reason: Mapped[str]
    reference: Mapped[str | None]
    device: Mapped[str]
    world_size: Mapped[int | None]
    verdict: Mapped[str]
    peak_bytes: Mapped[int | None] = mapped_column(BigInteger())
    usable_bytes: Mapped[int | None] = mapped_column(BigInteger())
    digest: Mapped[str | None]
    count: Mapped[int] = mapped_column(BigInteger())
    created_at: Mapped[datetime]
    last_at: Mapped[datetime]


class RulingCountRow(Base):
    """How often a queue's policy came to a ruling on one day."""

    __tablename__ = "ruling_counts"

    queue: Mapped[str] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    mode: Mapped[str] = mapped_column(primary_key=True)
    ruling: Mapped[str] = mapped_column(primary_key=True)
    rule: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int] = mapped_column(BigInteger())
