"""What the process counts and times, for Prometheus; one registry for the process, as there is one service in it.

The names and labels of requests are those of OpenTelemetry's semantic conventions, so that dashboards know them:
https://opentelemetry.io/docs/specs/semconv/http/http-metrics/
"""

from collections.abc import Iterable, Mapping
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

_FAST: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SLOW: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)

_REQUESTS = Histogram(
    "http_server_request_duration_seconds",
    "Time from a request to the end of its answer, by route as the OpenAPI document writes it.",
    ("http_request_method", "http_route", "http_response_status_code"),
    buckets=_FAST,
)
_VERDICTS = Counter("memplan_verdicts", "Verdicts given by POST /v1/verdicts, remembered ones included.", ("verdict",))
_SEARCH_SECONDS = Histogram("memplan_search_seconds", "Time of a whole search of layouts.", buckets=_SLOW)
_LAYOUTS = Counter("memplan_layouts_evaluated", "Layouts that ended searches have looked at.")
_SEARCHES = Gauge("memplan_searches", "Searches that run, and that wait for their turn.", ("state",))
_DATABASE_WAIT = Histogram(
    "memplan_database_wait_seconds",
    "Time that a change waited for a connection, and on SQLite for its turn to write.",
    buckets=_FAST,
)
_GROUP: Final = ("framework", "implementation", "device")
_CALLED_FITS = Gauge(
    "memplan_observed_fits", "Newest observed runs that were called fits and of which the end is known.", _GROUP
)
_FALSE_FITS = Gauge("memplan_observed_false_fits", "Those among them that ran out of memory.", _GROUP)
_BUILD = Gauge(
    "memplan_build_info", "1, with the release and the version of the method.", ("version", "method_version")
)


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request that was answered."""
    _REQUESTS.labels(method, route, status).observe(seconds)


def count_verdicts(verdicts: Mapping[str, int]) -> None:
    """Count verdicts that were given, by their kind."""
    for verdict, number in verdicts.items():
        _VERDICTS.labels(verdict).inc(number)


def count_search(layouts: int, seconds: float) -> None:
    """Count a search that has ended."""
    _SEARCH_SECONDS.observe(seconds)
    _LAYOUTS.inc(layouts)


def count_database_wait(seconds: float) -> None:
    """Count how long a change has waited for its turn."""
    _DATABASE_WAIT.observe(seconds)


def show_searches(running: int, waiting: int) -> None:
    """Say how many searches there are now."""
    _SEARCHES.labels("running").set(running)
    _SEARCHES.labels("waiting").set(waiting)


def show_fits(groups: Iterable[tuple[tuple[str, str, str], int, int]]) -> None:
    """Say of every group of observed runs how many were called fits, and how many of these ran out of memory."""
    _CALLED_FITS.clear()
    _FALSE_FITS.clear()
    for group, called, false in groups:
        _CALLED_FITS.labels(*group).set(called)
        _FALSE_FITS.labels(*group).set(false)


def show_build(version: str, method_version: str) -> None:
    """Say which release this is."""
    _BUILD.labels(version, method_version).set(1)


def rendered() -> bytes:
    """Return everything in Prometheus' text format, the process' own figures included."""
    return generate_latest(REGISTRY)
