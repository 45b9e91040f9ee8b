"""Loss recipes, as data with their sources, and which form of one a framework's version has."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from service.calculator.recipe import LossRecipe
from service.catalog.versions import Date, stated_date, stated_version


@dataclass(frozen=True, slots=True)
class Loss:
    """A recipe, and where it is another one's earlier form: of which tool, before which version or date.

    With `text` it is the form of a fork whose version says so, from `since_date` on. `implementations` are layers with
    which the earlier form is still the only one, `only` those that have it at all; `compiled` restricts it to compiled
    losses.
    """

    recipe: LossRecipe
    of: str | None = None
    tool: str = ""
    before_version: tuple[int, ...] | None = None
    before_date: Date | None = None
    implementations: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    compiled: bool = False
    text: str = ""
    since_date: Date = (0, 0, 0)

    def applies(self, version: str | None, implementation: str, *, compiled: bool) -> bool:
        """Whether a stated version or the implementation has this earlier form."""
        if (self.only and implementation not in self.only) or (self.compiled and not compiled):
            return False
        number, date = stated_version(version, self.tool), stated_date(version)
        if self.text:
            return self.text in (version or "").lower() and (date is None or date >= self.since_date)
        if implementation in self.implementations:
            return True
        if number is not None and self.before_version is not None:
            return number < self.before_version
        return date is not None and self.before_date is not None and date < self.before_date


def loss_recipe(
    name: str, version: str | None = None, implementation: str = "", *, compiled: bool = False
) -> LossRecipe:
    """The loss recipe of a name as a framework's version has it; the newest where the version does not tell.

    Raises KeyError for an unknown name.
    """
    for loss in _losses().values():
        if loss.of == name and loss.applies(version, implementation, compiled=compiled):
            return loss.recipe
    return _losses()[name].recipe


def loss_names() -> list[str]:
    """Names that a job can state."""
    return [name for name, loss in _losses().items() if loss.of is None]


@cache
def _losses() -> Mapping[str, Loss]:
    document = tomllib.loads(files("service.catalog").joinpath("losses.toml").read_text("utf-8"))
    return {name: _loss(name, fields) for name, fields in document["losses"].items()}


def _loss(name: str, fields: Mapping[str, Any]) -> Loss:
    def copies(key: str) -> tuple[str, ...]:
        return tuple(fields.get(key, ()))

    recipe = LossRecipe(
        name=name,
        kept=copies("kept"),
        forward=copies("forward"),
        backward=copies("backward"),
        smoothing_forward=copies("label_smoothing_forward"),
        smoothing_backward=copies("label_smoothing_backward"),
        shifted=copies("shifted"),
        chunk_forward=copies("chunk_forward"),
        chunk_backward=copies("chunk_backward"),
        chunks=fields.get("chunks", 1),
        chunks_by_width=fields.get("chunks_by_width", False),
        hidden_forward=copies("hidden_forward"),
        weight_forward=copies("weight_forward"),
        hidden=copies("hidden"),
        weight=copies("weight"),
        logits=fields.get("logits", "compute"),
    )
    return Loss(
        recipe=recipe,
        of=fields.get("of"),
        tool=fields.get("tool", ""),
        before_version=tuple(fields["before_version"]) if "before_version" in fields else None,
        before_date=tuple(fields["before_date"]) if "before_date" in fields else None,
        implementations=tuple(fields.get("implementations", ())),
        only=tuple(fields.get("only", ())),
        compiled=fields.get("compiled", False),
        text=fields.get("text", ""),
        since_date=tuple(fields.get("since_date", (0, 0, 0))),
    )
