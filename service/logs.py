"""Logging: structured, to standard error, one JSON object a line unless a person is watching."""

import logging
import sys
from typing import TYPE_CHECKING, Literal

import structlog

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

# What structlog and the standard library's loggers (uvicorn, Alembic) have in common.
_SHARED: list["Processor"] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]

# Local variables hold uploaded text and passwords, so tracebacks go without them.
_TRACEBACKS = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))


def configure(level: str = "INFO", style: Literal["auto", "json", "console"] = "auto") -> None:
    """Send every logger of the process through structlog; `style` auto means console on a terminal, else JSON.

    Run uvicorn with `log_config=None`, so that its loggers come here too.
    """
    as_json = style == "json" or (style == "auto" and not sys.stderr.isatty())
    renderers: list[Processor] = (
        [_TRACEBACKS, structlog.processors.JSONRenderer()]
        if as_json
        # Its own choice of traceback shows local variables, and took ten seconds to print those of one request.
        else [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_SHARED, structlog.stdlib.ExtraAdder(), _without_colours],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    structlog.configure(
        # Our own events are written here and do not go through the standard library, which would take longer for the
        # line of a request than what a remembered answer costs.
        processors=[*_SHARED, *renderers],
        logger_factory=_Writer,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=False,
    )


class _Writer(structlog.WriteLogger):
    """What writes the lines of one of our modules to standard error."""

    def __init__(self, name: str = "") -> None:
        super().__init__(sys.stderr)
        self.name = name


def logger(name: str) -> structlog.typing.FilteringBoundLogger:
    """Return the logger of a module."""
    found: structlog.typing.FilteringBoundLogger = structlog.get_logger(name)
    return found


def _without_colours(_logger: "WrappedLogger", _method: str, event: "EventDict") -> "EventDict":
    # uvicorn says its messages twice, the second time with the codes of a terminal.
    event.pop("color_message", None)
    return event
