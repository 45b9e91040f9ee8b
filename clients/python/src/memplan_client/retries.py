"""Requests that are safe to repeat are repeated when the service cannot answer now."""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx
from httpx import codes

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
_STATELESS: Final = ("/v1/estimates", "/v1/verdicts", "/v1/imports", "/cancel")
"""Ends of the paths whose POST stores nothing, or nothing twice."""
_PASSING: Final = frozenset({408, 429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is repeated, and after how long: full jitter, doubling (seconds).

    A `Retry-After` is waited out, unless it is longer than `longest_pause`.
    """

    times: int = 3
    first_pause: float = 0.25
    longest_pause: float = 30.0
    jitter: random.Random = field(default_factory=random.Random, repr=False, compare=False)

    def pause(self, request: httpx.Request, tried: int, response: httpx.Response | None) -> float | None:
        """Return the seconds to wait before the request is sent again, or None: it is not.

        `response` is None when there was none.
        """
        if tried > self.times or not is_repeatable(request):
            return None
        if response is not None and not _is_passing(response):
            return None
        asked = None if response is None else retry_after(response)
        if asked is not None and asked > self.longest_pause:
            return None
        doubled = min(self.first_pause * 2 ** (tried - 1), self.longest_pause)
        return (asked or 0.0) + self.jitter.uniform(0, doubled)


def is_repeatable(request: httpx.Request) -> bool:
    """Return whether sending the request twice does no more than sending it once."""
    if request.method in _SAFE or "Idempotency-Key" in request.headers:
        return True
    return request.method == "POST" and request.url.path.endswith(_STATELESS)


def retry_after(response: httpx.Response) -> float | None:
    """Return the seconds that the answer asks to wait, or None."""
    value = response.headers.get("Retry-After", "")
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max((until - datetime.now(UTC)).total_seconds(), 0.0) if until.tzinfo else None


def _is_passing(response: httpx.Response) -> bool:
    # A key that is in use is free soon, and says when.
    return response.status_code in _PASSING or (
        response.status_code == codes.CONFLICT and "Retry-After" in response.headers
    )
