"""What torchtitan did at a date, as data with its sources."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from service.catalog.versions import Date, stated_date

GRAPH_TRAINER = "graph_trainer"
WHOLE_GRAPHS = (GRAPH_TRAINER, "SimpleFSDP")
"""Trainers of torchtitan that compile forward, backward and collectives together, on one stream."""

TODAY: Date = (9999, 1, 1)


def titan_habits(version: str | None) -> frozenset[str]:
    """Names of the habits of a version, by the date in its text; today's where there is none."""
    date = stated_date(version) or TODAY
    graph = GRAPH_TRAINER in (version or "")
    return frozenset(each["name"] for each in _habits() if _holds(each, date, graph=graph))


def is_whole_graph(version: str | None) -> bool:
    """Whether a version's text names a trainer that compiles everything together."""
    return any(each in (version or "") for each in WHOLE_GRAPHS)


def _holds(habit: dict[str, Any], date: Date, *, graph: bool) -> bool:
    if habit.get("graph_only") and not graph:
        return False
    since = habit.get("graph_since" if graph and "graph_since" in habit else "since", (0, 0, 0))
    return tuple(since) <= date < tuple(habit.get("until", (*TODAY, 1)))


@cache
def _habits() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(files("service.catalog").joinpath("titan.toml").read_text("utf-8"))[
        "habits"
    ]
    return found
