"""What an operator can set, all of it through environment variables that start with MEMPLAN_."""

from ipaddress import ip_address
from typing import Annotated, Literal

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
        default=30.0, gt=0, le=3600, description="How long one statement may run on PostgreSQL, in seconds."
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
    body_limit_bytes: int = Field(default=5 * 1024 * 1024, ge=1024, description="Largest request body, in bytes.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="The least severe message that is logged."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        default="auto", description="json: one object a line; console: for people; auto: console on a terminal only."
    )

    @property
    def needs_tokens(self) -> bool:
        """Whether a request needs a token."""
        return self.access == "tokens" or (self.access == "auto" and not is_loopback(self.host))
