"""The connections of the clients: requests are repeated where that is safe, and every error is raised."""

import asyncio
import time
from itertools import count
from typing import Any

import httpx

from memplan_client.failures import MemplanError, ServiceTimeout, ServiceUnreachable, error_of, unexpected
from memplan_client.generated import Client as GeneratedClient
from memplan_client.retries import Retries, retry_after
from memplan_client.version import VERSION

CONNECT_SECONDS = 2.0


class Session(httpx.Client):
    """An httpx client whose answers are those of a call that went well; raises MemplanError."""

    def __init__(self, retries: Retries, **options: Any) -> None:
        super().__init__(**options)
        self._retries = retries

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Return the answer, after as many tries as are allowed. Raises MemplanError."""
        for tried in count(1):
            try:
                response = super().send(request, **options)
            except httpx.TransportError as error:
                pause = self._retries.pause(request, tried, None)
                if pause is None:
                    raise _unreachable(request, error) from error
            else:
                pause = self._retries.pause(request, tried, response)
                if pause is None:
                    return _checked(response)
            time.sleep(pause)
        raise AssertionError  # pragma: no cover - counting does not end


class AsyncSession(httpx.AsyncClient):
    """The same, without blocking."""

    def __init__(self, retries: Retries, **options: Any) -> None:
        super().__init__(**options)
        self._retries = retries

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Return the answer, after as many tries as are allowed. Raises MemplanError."""
        for tried in count(1):
            try:
                response = await super().send(request, **options)
            except httpx.TransportError as error:
                pause = self._retries.pause(request, tried, None)
                if pause is None:
                    raise _unreachable(request, error) from error
            else:
                pause = self._retries.pause(request, tried, response)
                if pause is None:
                    return _checked(response)
            await asyncio.sleep(pause)
        raise AssertionError  # pragma: no cover - counting does not end


def options(base_url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """Return what both kinds of session are opened with."""
    headers = {"User-Agent": f"memplan-client/{VERSION}"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    times = httpx.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout))
    return {"base_url": base_url, "headers": headers, "timeout": times}


def generated_client(base_url: str) -> GeneratedClient:
    """Return what the generated functions take; its session is set by the caller."""
    return GeneratedClient(base_url=base_url, raise_on_unexpected_status=True)


def _checked(response: httpx.Response) -> httpx.Response:
    if response.is_success or response.status_code == httpx.codes.NOT_MODIFIED:
        # A proxy in between answers 200 with a page of its own; only exports are no JSON.
        kind = response.headers.get("Content-Type", "")
        if not response.content or "json" in kind or "/exports/" in response.request.url.path:
            return response
        raise unexpected(response)
    raise error_of(response, retry_after(response))


def _unreachable(request: httpx.Request, error: httpx.TransportError) -> MemplanError:
    kind = ServiceTimeout if isinstance(error, httpx.TimeoutException) else ServiceUnreachable
    return kind(f"{request.method} {request.url}: {str(error) or type(error).__name__}")
