"""A memplan service elsewhere, which answers in place of this process."""

import argparse
import json
import logging
import os
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from service.cli.errors import FAILED, USAGE, CommandError, joined

TOKEN: Final = "MEMPLAN_TOKEN"  # noqa: S105 - the name of the variable
TRIES: Final = 3
LONGEST_PAUSE: Final = 10
_USAGE: Final = frozenset({"invalid_request", "unknown_device", "authentication_required", "invalid_token"})
_TIMES: Final = httpx.Timeout(60, connect=5)

# httpx tells every request at INFO, which would stand beside the answer.
logging.getLogger("httpx").setLevel(logging.WARNING)

Schema = TypeVar("Schema", bound=BaseModel)
Progress = Callable[[int, int], object]


class Remote:
    """The service at an address; the token is taken from the environment."""

    def __init__(self, address: str) -> None:
        token = os.environ.get(TOKEN)
        self._address = address.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def ask(self, path: str, body: dict[str, Any], schema: type[Schema], **query: Any) -> Schema:
        """Return the answer to a question that stores nothing. Raises CommandError."""
        return self._read(self._send("POST", path, json=body, params=query), schema)

    def get(self, path: str, schema: type[Schema]) -> Schema:
        """Return what is at a path. Raises CommandError."""
        return self._read(self._send("GET", path), schema)

    def text(self, path: str, **query: Any) -> tuple[str, str]:
        """Return the text at a path, and what it has no words for. Raises CommandError."""
        answer = self._send("GET", path, params=query)
        return answer.text, answer.headers.get("Memplan-Unsaid", "")

    def plan(self, body: dict[str, Any], schema: type[Schema], progress: Progress) -> Schema:
        """Return a plan when its search has ended; `progress` is told how far it is. Raises CommandError."""
        try:
            return self._plan(body, schema, progress)
        except (KeyError, TypeError) as error:
            raise CommandError(f"{self._address}: the answer cannot be read: {error!r}") from None

    def _plan(self, body: dict[str, Any], schema: type[Schema], progress: Progress) -> Schema:
        answer = self._send("POST", "/v1/plans", json=body, params={"wait": "0"})
        while answer.status_code == httpx.codes.ACCEPTED or "state" in answer.json():
            operation = answer.json()
            if operation["state"] not in {"waiting", "running"}:
                return self.get(_result(operation), schema)
            if operation["progress"]["total"]:
                progress(operation["progress"]["done"], operation["progress"]["total"])
            time.sleep(0.2)
            answer = self._send("GET", f"/v1/operations/{operation['id']}")
        return self._read(answer, schema)

    def _send(self, method: str, path: str, **what: Any) -> httpx.Response:
        for tried in range(1, TRIES + 1):
            try:
                answer = httpx.request(method, self._address + path, headers=self._headers, timeout=_TIMES, **what)
            except (httpx.TransportError, httpx.InvalidURL) as error:
                said = str(error) or type(error).__name__
                raise CommandError(f"{self._address} cannot be asked: {said}") from None
            if answer.is_success:
                return answer
            pause = answer.headers.get("Retry-After", "")
            if tried == TRIES or not pause.isdigit() or int(pause) > LONGEST_PAUSE:
                break
            time.sleep(int(pause))
        raise self._error(answer)

    def _read(self, answer: httpx.Response, schema: type[Schema]) -> Schema:
        try:
            return schema.model_validate_json(answer.content)
        except ValidationError as error:
            where = ".".join(map(str, error.errors()[0]["loc"]))
            raise CommandError(
                f"{self._address}: the answer cannot be read at {where}; is it memplan, and of this release?"
            ) from None

    def _error(self, answer: httpx.Response) -> CommandError:
        try:
            problem = answer.json()
            lines = [_fault(each) for each in problem.get("errors") or ()]
            lines += [f"{each['fact']} is missing: {each['message']}" for each in problem.get("missing") or ()]
            hint = f"; {TOKEN} may hold one" if problem["code"] == "authentication_required" else ""
            code = USAGE if problem["code"] in _USAGE else FAILED
            return CommandError(joined(lines or [f"{problem['title']}: {problem['detail']}{hint}"]), code)
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError):
            return CommandError(f"{self._address} answers {answer.status_code}, and not as memplan does")


def connect(options: argparse.Namespace) -> Remote:
    """Return the service that the options name."""
    return Remote(options.server)


def _result(operation: dict[str, Any]) -> str:
    if operation["result"] is None:
        why = operation["error"]["detail"] if operation["error"] else f"it was {operation['state']}"
        raise CommandError(f"the search ended without a plan: {why}")
    result: str = operation["result"]
    return result


def _fault(fault: dict[str, Any]) -> str:
    where = f"{fault['pointer']}: " if fault["pointer"] else ""
    return f"{where}{fault['message']}; {fault['fix']}"
