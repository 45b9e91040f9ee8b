"""Say how long plans are kept, and list them by label in order."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    with op.batch_alter_table("plans") as plans:
        plans.add_column(sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True))
        plans.add_column(sa.Column("pinned", sa.Boolean(), server_default=sa.false(), nullable=False))
        plans.create_index(op.f("ix_plans_expires_at"), ["expires_at"])
    op.add_column("plan_labels", sa.Column("created_at", sa.DateTime(timezone=True), nullable=True))
    op.execute(
        "UPDATE plan_labels SET created_at = (SELECT created_at FROM plans WHERE plans.id = plan_labels.plan_id)"
    )
    with op.batch_alter_table("plan_labels") as labels:
        labels.alter_column("created_at", existing_type=sa.DateTime(timezone=True), nullable=False)
        labels.drop_index(op.f("ix_plan_labels_key_value_plan_id"))
        labels.create_index(
            op.f("ix_plan_labels_key_value_created_at_plan_id"), ["key", "value", "created_at", "plan_id"]
        )


def downgrade() -> None:
    with op.batch_alter_table("plan_labels") as labels:
        labels.drop_index(op.f("ix_plan_labels_key_value_created_at_plan_id"))
        labels.create_index(op.f("ix_plan_labels_key_value_plan_id"), ["key", "value", "plan_id"])
        labels.drop_column("created_at")
    with op.batch_alter_table("plans") as plans:
        plans.drop_index(op.f("ix_plans_expires_at"))
        plans.drop_column("pinned")
        plans.drop_column("expires_at")
