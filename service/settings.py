"""What an operator can set, all of it through environment variables that start with MEMPLAN_."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated, Final, Literal, TypeVar

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

_DRIVERS = {
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
    "sqlite": "sqlite+pysqlite",
    "sqlite+pysqlite": "sqlite+pysqlite",
}


def with_driver(url: str) -> str:
    """Return the database URL with its driver named: bare schemes change their meaning between SQLAlchemy releases.

    Raises ValueError for another database, and for SQLite without a file.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in _DRIVERS:
        allowed = "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
        raise ValueError(f"the database must be given as {allowed}")
    if _DRIVERS[scheme].startswith("sqlite") and (rest in {"", "/"} or ":memory:" in rest or "mode=memory" in rest):
        raise ValueError("SQLite must be given a file, as in sqlite:///memplan.db: each thread has its own connection")
    return f"{_DRIVERS[scheme]}://{rest}"


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one caller may ask for: how often, and how many requests and searches at a time; None is without limit."""

    rate: str | None
    requests: int | None
    searches: int | None


GUARDED: Final = Limits("500/second", 64, 8)
"""The limits where tokens are needed: one caller leaves most of one process to the others."""


def rate(text: str) -> str:
    """Return a rate as it is given. Raises ValueError when it is none."""
    if text not in {"auto", "off"} and re.fullmatch(r"[1-9][0-9]{0,8}/(second|minute|hour)", text) is None:
        raise ValueError("a rate is written as 100/second, 3000/minute or 50000/hour; or off, or auto")
    return text


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Settings(BaseSettings):
    """The service's settings; built once by the command or by a test, and passed down."""

    # A URL that is refused may hold a password, and the refusal is printed.
    model_config = SettingsConfigDict(env_prefix="MEMPLAN_", frozen=True, extra="forbid", hide_input_in_errors=True)

    database_url: Annotated[str, AfterValidator(with_driver)] = Field(
        default="sqlite+pysqlite:///memplan.db",
        # For the same reason: settings end up in tracebacks.
        repr=False,
        description="Where plans are stored: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE.",
    )
    sqlite_synchronous: Literal["NORMAL", "FULL"] = Field(
        default="NORMAL",
        description="NORMAL survives a crash of the process; FULL also a power cut, at a third of the write speed.",
    )
    busy_timeout_seconds: float = Field(
        default=5.0, gt=0, le=60, description="How long a request waits for its turn at the database, in seconds."
    )
    statement_timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        le=3600,
        description="How long one statement may run on PostgreSQL, in seconds; a server that says nothing for 2 s "
        "longer is given up.",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    access: Literal["auto", "open", "tokens"] = Field(
        default="auto",
        description="Who may ask. tokens: whoever has a token (memplan token create); open: everybody; auto: everybody "
        "on a loopback address, else whoever has a token.",
    )
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    thread_limit: int = Field(
        default=8,
        ge=1,
        le=256,
        description="Requests worked on at a time; also the number of database connections.",
    )
    search_concurrency: int = Field(default=2, ge=1, le=64, description="Plan searches that run at a time.")
    search_queue: int = Field(
        default=32, ge=0, le=10_000, description="Plan searches that may wait for their turn; more are refused."
    )
    search_max_layouts: int = Field(
        default=10_000_000, ge=1, description="Layouts one search may look at; a larger search is refused."
    )
    rate_limit: Annotated[str, AfterValidator(rate)] = Field(
        default="auto",
        description="How often a token, or an address without one, may ask, as in 100/second or 3000/minute; off; "
        f"auto: {GUARDED.rate} where tokens are needed, else off.",
    )
    caller_requests: Literal["auto", "off"] | Annotated[int, Field(ge=1)] = Field(
        default="auto",
        description="Requests of one token or address that are served at a time, event streams included; off; auto: "
        f"{GUARDED.requests} where tokens are needed, else off.",
    )
    caller_searches: Literal["auto", "off"] | Annotated[int, Field(ge=1)] = Field(
        default="auto",
        description="Searches of one token or address that run or wait at a time; off; auto: "
        f"{GUARDED.searches} where tokens are needed, else off.",
    )
    plan_retention_days: int = Field(
        default=0,
        ge=0,
        le=36_500,
        description="Days that a plan is kept which has no expires_at of its own and is not pinned; 0: for good.",
    )
    comparison_retention_days: int = Field(
        default=0, ge=0, le=36_500, description="Days that a comparison is kept; 0: for good."
    )
    operation_retention_days: int = Field(
        default=30, ge=0, le=36_500, description="Days that an operation is kept after its end; 0: for good."
    )
    record_retention_days: int = Field(
        default=366,
        ge=0,
        le=36_500,
        description="Days that the record of what policies refused is kept; 0: for good.",
    )
    body_limit_bytes: int = Field(default=5 * 1024 * 1024, ge=1024, description="Largest request body, in bytes.")
    metrics: Literal["open", "off"] = Field(
        default="open",
        description="Whether GET /metrics has the figures of the process for Prometheus; it needs no token.",
    )
    cors_origins: list[str] = Field(
        default=[],
        description="Origins whose pages may call the service from a browser, as a JSON list of the form "
        '["https://example.org"]; none unless set.',
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="The least severe message that is logged."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        default="auto", description="json: one object a line; console: for people; auto: console on a terminal only."
    )

    @property
    def limits(self) -> Limits:
        """What one caller may ask for."""
        usual = GUARDED if self.needs_tokens else Limits(None, None, None)
        return Limits(
            _limit(self.rate_limit, usual.rate),
            _limit(self.caller_requests, usual.requests),
            _limit(self.caller_searches, usual.searches),
        )

    @property
    def needs_tokens(self) -> bool:
        """Whether a request needs a token."""
        return self.access == "tokens" or (self.access == "auto" and not is_loopback(self.host))


def _limit(given: T | str, usual: T | None) -> T | None:
    if given == "auto":
        return usual
    return None if given == "off" else given  # type: ignore[return-value]  # what is neither is of the type itself
