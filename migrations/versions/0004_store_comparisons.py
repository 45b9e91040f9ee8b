"""Store comparisons."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "comparisons",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sides", sa.Integer(), nullable=False),
        sa.Column("targets", sa.Integer(), nullable=False),
        sa.Column("request", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("answer", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("method_version", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comparisons")),
        sa.UniqueConstraint("digest", name=op.f("uq_comparisons_digest")),
    )
    op.create_index(op.f("ix_comparisons_created_at_id"), "comparisons", ["created_at", "id"])


def downgrade() -> None:
    op.drop_table("comparisons")
