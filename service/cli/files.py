"""The file that a command is about: a job of memplan's own, or a config that a job is read from."""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from service.cli.errors import USAGE, CommandError, joined
from service.formats.source import LARGEST_TEXT, ConfigSource
from service.job.diagnostics import Diagnostic
from service.job.schema import Job
from service.usecases.errors import NoSuchDevice, RejectedJob, RejectedQuestion
from service.usecases.faults import faults_of
from service.usecases.imports import Given, accept
from service.usecases.schema_tree import SchemaTree

JOB = "job"

Schema = TypeVar("Schema", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command is about: a job or a config, and values that the options state besides, by JSON Pointer."""

    given: Given
    changes: Mapping[str, Any]

    def settled(self) -> Given:
        """Return one thing that says all of it: as it was given, or the job with the changes. Raises CommandError."""
        try:
            return accept(self.given, self.changes).job if self.changes else self.given
        except RejectedQuestion as error:
            raise refusal(error) from None

    def document(self) -> dict[str, Any]:
        """Return it under the key that the HTTP interface takes it by. Raises CommandError."""
        return document_of(self.settled())


def document_of(given: Given) -> dict[str, Any]:
    """Return a job or a config under the key that the HTTP interface takes it by."""
    key = "job" if isinstance(given, Job) else "source"
    return {key: given.model_dump(mode="json", by_alias=True, exclude_none=True)}


def asked_by(options: argparse.Namespace, world_size: int | None = None) -> Asked:
    """Return what the options of a command name. Raises CommandError."""
    given = given_by(options, world_size)
    # A config takes the number of GPUs as its own; in a job it is one more change.
    further = world_size if isinstance(given, Job) else None
    return Asked(given, changes_by(options, further))


def given_by(options: argparse.Namespace, world_size: int | None = None, file: str | None = None) -> Given:
    """Return the job or the config in the options' file, or in another. Raises CommandError."""
    text = _text(file or options.file)
    document = _object(text) if options.format in {"auto", JOB} else None
    if options.format == JOB or (document is not None and {"model", "framework"} <= document.keys()):
        return _validated(Job, document)
    source = {
        "format": options.format,
        "text": text,
        "files": {Path(each).name: _text(each) for each in options.beside},
        "env": dict(_pair(each) for each in options.env),
        "argv": options.argv,
        "world_size": world_size,
    }
    return _validated(ConfigSource, source)


def changes_by(options: argparse.Namespace, world_size: int | None = None) -> dict[str, Any]:
    """Return the values of the job that the options state, by JSON Pointer. Raises CommandError."""
    changes: dict[str, Any] = {} if world_size is None else {"/world_size": world_size}
    for each in options.set:
        key, value = _pair(each)
        changes["/" + key.replace(".", "/")] = _value(value)
    return changes


def refusal(error: RejectedQuestion) -> CommandError:
    """Return the error that says why a question has no answer: of a job, in a line for each problem."""
    if isinstance(error, NoSuchDevice):
        hint = f"; did you mean {', '.join(error.close)}?" if error.close else ""
        return CommandError(f"{error}{hint}", USAGE)
    if not isinstance(error, RejectedJob):
        return CommandError(str(error))
    lines = [f"{each.message}{_remedy(each)}" for each in error.findings.errors]
    lines += [f"{each.fact} is missing: {each.message}" for each in error.findings.missing]
    return CommandError(joined(lines))


def _remedy(problem: Diagnostic) -> str:
    if problem.fixes:
        return f"; try {', or '.join(problem.fixes)}"
    return f"; {problem.rule}" if problem.rule else ""


def _text(name: str) -> str:
    try:
        body = sys.stdin.buffer.read(LARGEST_TEXT + 1) if name == "-" else _bytes(Path(name))
        if len(body) > LARGEST_TEXT:
            raise CommandError(f"{name} has more than {LARGEST_TEXT} bytes", USAGE)
        return body.decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"cannot read {name}: {error.strerror or error}", USAGE) from None
    except UnicodeDecodeError:
        raise CommandError(f"{name} is not text in UTF-8", USAGE) from None


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST_TEXT + 1)


def _object(text: str) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _pair(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not key or not separator:
        raise CommandError(f"{text!r} should be KEY=VALUE", USAGE)
    return key, value


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _validated(schema: type[Schema], document: Any) -> Schema:
    try:
        return schema.model_validate(document)
    except ValidationError as error:
        form = schema.model_json_schema()
        details: list[Any] = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        faults = faults_of(details, document, {"body": SchemaTree(form, form["$defs"])})
        raise CommandError(joined([f"{each.pointer}: {each.message}; {each.fix}" for each in faults]), USAGE) from None
