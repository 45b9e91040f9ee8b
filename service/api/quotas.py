"""How often, and how many at a time, a caller may ask; counted in this process, in windows that move."""

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from service.api.catalogue import RATE_LIMITED, TOO_MANY_AT_ONCE
from service.api.problems import ProblemError
from service.settings import Limits

_FAILURES: Final = parse("60/minute")
"""How often an address may try tokens that open nothing: each costs a look into the database."""

# Counted apart from requests, also where these have the same rate.
_TRIES: Final = "tries"


class Quotas:
    """What callers have asked lately and ask now; used on the event loop alone."""

    def __init__(self, limits: Limits) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._rate: RateLimitItem | None = None if limits.rate is None else parse(limits.rate)
        self._most = limits.requests
        self._active = Counter[str]()

    def charge(self, caller: str) -> Mapping[str, str]:
        """Count a request, and return the headers that say what is left. Raises ProblemError when nothing is."""
        if self._rate is None:
            return {}
        is_within = self._limiter.hit(self._rate, caller)
        left, wait = self._stats(self._rate, caller)
        # https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.html
        headers = {
            "RateLimit-Policy": f'"caller";q={self._rate.amount};w={self._rate.get_expiry()}',
            "RateLimit": f'"caller";r={left};t={wait}',
        }
        if not is_within:
            raise _too_often(f"A caller may ask {self._rate}.", wait, headers)
        return headers

    @contextmanager
    def occupied(self, caller: str) -> Iterator[None]:
        """Hold one of the caller's places while a request is served. Raises ProblemError when all are taken."""
        if self._most is not None and self._active[caller] >= self._most:
            detail = f"{self._most} requests of this caller are being served, as many as may be at a time."
            raise ProblemError(TOO_MANY_AT_ONCE, detail, headers={"Retry-After": "1"})
        self._active[caller] += 1
        try:
            yield
        finally:
            self._active[caller] -= 1
            if not self._active[caller]:
                del self._active[caller]

    def check_failures(self, address: str) -> None:
        """Refuse an address that has tried too many tokens in vain. Raises ProblemError."""
        if not self._limiter.test(_FAILURES, _TRIES, address):
            _, wait = self._stats(_FAILURES, _TRIES, address)
            raise _too_often(f"An address may try {_FAILURES} tokens that open nothing.", wait, {})

    def count_failure(self, address: str) -> None:
        """Count a token that opened nothing."""
        self._limiter.hit(_FAILURES, _TRIES, address)

    def _stats(self, rate: RateLimitItem, *counted: str) -> tuple[int, int]:
        """What is left, and in how many seconds there is more."""
        reset, left = self._limiter.get_window_stats(rate, *counted)
        return left, max(1, math.ceil(reset - time.time()))


def _too_often(detail: str, wait: int, headers: Mapping[str, str]) -> ProblemError:
    return ProblemError(RATE_LIMITED, detail, headers={**headers, "Retry-After": str(wait)})
