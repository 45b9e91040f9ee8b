"""How long a plan is kept."""

from pydantic import Field

from service.api.schemas.base import RequestBody
from service.api.schemas.plan_request import ExpiresAt
from service.store.kept import Kept


class KeepRequest(RequestBody):
    """How long a plan is kept; what is left out stays as it is."""

    expires_at: ExpiresAt | None = Field(None, examples=["2027-03-01T00:00:00Z"])
    """When it may be removed (RFC 3339); null: as the service's settings say."""
    pinned: bool | None = Field(None, strict=True, examples=[True])
    """Whether it is kept for good, whatever `expires_at` says; null: as it is."""

    def changed(self, before: Kept) -> Kept:
        """Return how long the plan is kept from now on."""
        stated = "expires_at" in self.model_fields_set
        return Kept(
            self.expires_at if stated else before.expires_at, before.pinned if self.pinned is None else self.pinned
        )
