"""Numbers of a manifest as they are written: integers, text, or places that a template tool fills in."""

import re
from collections.abc import Mapping

from service.formats.syntax.values import ValueFault, integer
from service.job.diagnostics import Diagnostic

_PLACE = re.compile(r"\$\{(\w+)(?::?[-=]([^}]*))?\}|\$(\w+)|\$\((\w+)\)|\{\{\s*\.?([\w.]+)[^}]*\}\}|<([\w .-]+)>")
_WORDS = frozenset({"auto", "gpu", "cpu", ""})


class Placeholders:
    """Reads numbers, and remembers which places nothing fills in."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self.missing: dict[str, str] = {}
        self.diagnostics: list[Diagnostic] = []

    def number(self, value: object, where: str) -> int | None:
        """The number that is written, None when there is none: nothing, `auto`, or a place left open."""
        if value is None or isinstance(value, bool):
            return None
        text = self._filled(str(value).strip(), where)
        if text is None or text in _WORDS:
            return None
        try:
            found = integer(text)
        except ValueFault as fault:
            self.diagnostics.append(
                Diagnostic("value_type", "error", f"{where}: {fault}", ("/world_size",), text[:60], "a whole number")
            )
            return None
        return found

    def _filled(self, text: str, where: str) -> str | None:
        """The text with every place filled in, or None."""
        whole = _PLACE.fullmatch(text)
        if whole is None:
            return text
        name = next(each for each in (whole.group(1), *whole.groups()[2:]) if each)
        if name in self._env:
            return self._env[name].strip()
        if whole.group(2):
            return whole.group(2)
        message = f"{where} is {text}, a place that {name} fills in; pass env.{name}"
        self.missing.setdefault(name, message)
        for code in ("unresolved", "placeholders_unresolved"):
            note = Diagnostic(code, "warning", message, ("/world_size",), name, fixes=(f"pass env.{name}",))
            if note not in self.diagnostics:
                self.diagnostics.append(note)
        return None
