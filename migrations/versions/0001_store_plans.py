"""Store plans."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "plans",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("device", sa.Text(), nullable=False),
        sa.Column("world_size", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("best_step_seconds", sa.Double(), nullable=True),
        sa.Column("peak_device_bytes", sa.BigInteger(), nullable=True),
        sa.Column("request", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("answer", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("method_version", sa.Text(), nullable=False),
        sa.CheckConstraint("verdict IN ('fits', 'tight', 'does_not_fit', 'unknown')", name=op.f("ck_plans_verdict")),
        sa.CheckConstraint("world_size > 0", name=op.f("ck_plans_world_size")),
        sa.CheckConstraint("peak_device_bytes >= 0", name=op.f("ck_plans_peak_device_bytes")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plans")),
        sa.UniqueConstraint("digest", name=op.f("uq_plans_digest")),
    )
    op.create_index(op.f("ix_plans_created_at_id"), "plans", ["created_at", "id"])
    op.create_index(op.f("ix_plans_model_created_at_id"), "plans", ["model", "created_at", "id"])
    op.create_index(op.f("ix_plans_device_created_at_id"), "plans", ["device", "created_at", "id"])
    op.create_index(op.f("ix_plans_verdict_created_at_id"), "plans", ["verdict", "created_at", "id"])

    op.create_table(
        "plan_labels",
        sa.Column("plan_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["plan_id"], ["plans.id"], name=op.f("fk_plan_labels_plan_id_plans"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("plan_id", "key", name=op.f("pk_plan_labels")),
    )
    op.create_index(op.f("ix_plan_labels_key_value_plan_id"), "plan_labels", ["key", "value", "plan_id"])


def downgrade() -> None:
    op.drop_table("plan_labels")
    op.drop_table("plans")
