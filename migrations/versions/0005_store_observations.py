"""Store observations, and what was predicted of them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "observation_groups",
        sa.Column("framework", sa.Text(), nullable=False),
        sa.Column("implementation", sa.Text(), nullable=False),
        sa.Column("device", sa.Text(), nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("framework", "implementation", "device", name=op.f("pk_observation_groups")),
    )
    op.create_table(
        "observations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("framework", sa.Text(), nullable=False),
        sa.Column("implementation", sa.Text(), nullable=False),
        sa.Column("device", sa.Text(), nullable=False),
        sa.Column("gpus_per_node", sa.Integer(), nullable=False),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=True),
        sa.Column("candidate", sa.Integer(), nullable=True),
        sa.Column("job", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("usable_bytes", sa.BigInteger(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=True),
        sa.Column("allocated_bytes", sa.BigInteger(), nullable=True),
        sa.Column("reserved_bytes", sa.BigInteger(), nullable=True),
        sa.Column("device_bytes", sa.BigInteger(), nullable=True),
        sa.Column("oom", sa.Boolean(), nullable=True),
        sa.Column("step_seconds", sa.Double(), nullable=True),
        sa.CheckConstraint("source IN ('torch', 'nvidia-smi', 'scheduler')", name=op.f("ck_observations_source")),
        sa.CheckConstraint(
            "verdict IN ('fits', 'tight', 'does_not_fit', 'unknown')", name=op.f("ck_observations_verdict")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_observations")),
        sa.UniqueConstraint("run_id", name=op.f("uq_observations_run_id")),
    )
    group = ["framework", "implementation", "device", "created_at", "id"]
    op.create_index(op.f("ix_observations_created_at_id"), "observations", ["created_at", "id"])
    op.create_index(op.f("ix_observations_device_created_at_id"), "observations", ["device", "created_at", "id"])
    op.create_index(op.f("ix_observations_plan_created_at_id"), "observations", ["plan", "created_at", "id"])
    op.create_index(op.f(f"ix_observations_{'_'.join(group)}"), "observations", group)
    op.create_table(
        "observation_predictions",
        sa.Column("observation_id", sa.Uuid(), nullable=False),
        sa.Column("method_version", sa.Text(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=False),
        sa.Column("allocated_bytes", sa.BigInteger(), nullable=False),
        sa.Column("reserved_bytes", sa.BigInteger(), nullable=False),
        sa.Column("device_bytes", sa.BigInteger(), nullable=False),
        sa.Column("step_seconds", sa.Double(), nullable=True),
        sa.Column("step_grid", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["observation_id"],
            ["observations.id"],
            name=op.f("fk_observation_predictions_observation_id_observations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("observation_id", "method_version", name=op.f("pk_observation_predictions")),
    )


def downgrade() -> None:
    op.drop_table("observation_predictions")
    op.drop_table("observations")
    op.drop_table("observation_groups")
