"""What a token may do."""

from typing import Final, Literal, get_args

Scope = Literal["verdict:read", "plan:read", "plan:write", "observe:write", "admin"]
"""One thing that a token may do; `admin` includes the others."""

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
