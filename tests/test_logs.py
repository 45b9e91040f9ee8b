"""Logs are one JSON object a line on standard error, whoever logs, and hold no local variables."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from service import logs


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    printed = capsys.readouterr()
    assert printed.out == ""
    return [json.loads(line) for line in printed.err.splitlines()]


def test_an_event_is_a_line_with_its_level_its_time_and_what_was_bound(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure()
    structlog.contextvars.bind_contextvars(request_id="r1")
    logs.logger("service.usecases.plans").info("plan stored", plan="pln_1")
    (line,) = lines(capsys)
    assert str(line.pop("timestamp")).endswith("Z")
    assert line == {
        "event": "plan stored",
        "level": "info",
        "logger": "service.usecases.plans",
        "plan": "pln_1",
        "request_id": "r1",
    }


def test_the_loggers_of_libraries_are_lines_too(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure()
    logging.getLogger("uvicorn.error").warning("%d workers", 3, extra={"color_message": "\x1b[36m3\x1b[0m workers"})
    (line,) = lines(capsys)
    assert "color_message" not in line
    assert (line["event"], line["level"], line["logger"]) == ("3 workers", "warning", "uvicorn.error")


def test_what_is_less_severe_than_asked_for_is_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(level="WARNING")
    logs.logger("service").info("quiet")
    logging.getLogger("alembic").info("quiet")
    assert lines(capsys) == []


def test_a_traceback_goes_without_local_variables(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(style="json")

    def fail(upload: str) -> None:
        raise ValueError(f"{len(upload)} characters")

    try:
        fail("the text that somebody uploaded")
    except ValueError:
        logs.logger("service").exception("request failed")
    (line,) = lines(capsys)
    assert "ValueError" in str(line["exception"])
    assert "somebody uploaded" not in str(line)


def test_for_people_an_event_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(style="console")
    logs.logger("service").info("serving", port=8000)
    printed = capsys.readouterr().err
    assert "serving" in printed
    assert not printed.startswith("{")
