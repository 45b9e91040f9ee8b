"""Places in a config file that something fills in before the program reads it: variables, templates, sed marks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

# ${X}, ${X:-default}, ${oc.env:X,default}, ${env:X}, {{ X }} and <X>; a bare $X counts only as a whole value.
_FILLED = re.compile(
    r"\$\{(?:oc\.env:|env:)?([A-Za-z_.][\w.]*)(?:(:-?|,)([^{}]*))?\}"
    r"|\{\{[-\s]*\.?([A-Za-z_][\w.]*)[^{}]*\}\}"
    r"|<([A-Za-z_][\w -]{0,60})>"
    r"|\$([A-Za-z_]\w*)"
)
_MARK = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Unfilled:
    """A value that something still has to fill in; `name` is what, `text` the value as it stands."""

    name: str
    text: str

    def __str__(self) -> str:
        """The value as it stands in the file."""
        return self.text


def filled(text: str, env: Mapping[str, str]) -> str | Unfilled:
    """The text with its places filled from `env` or their own defaults, or what is still to be filled in."""
    if len(text) > _LONGEST or not ("$" in text or "{{" in text or "<" in text):
        return text
    left: list[str] = []

    def fill(matched: re.Match[str]) -> str:
        name, separator, default, template, described, bare = matched.groups()
        name = name or template or described or bare
        if name in env:
            return env[name]
        # `${if:a,b}` calls a resolver by that name, and has no default.
        called = separator == ":" and name.islower() and not matched.group(0).startswith(("${oc.env:", "${env:"))
        if default is not None and not called:
            return default.strip()
        left.append(name)
        return matched.group(0)

    done = _FILLED.sub(fill, text)
    return Unfilled(left[0], text) if left else done


def mark(text: str, env: Mapping[str, str]) -> str | Unfilled:
    """A word like `CONFIG_BATCH_SIZE` where a number belongs: what `sed` replaces before the file is used."""
    if not _MARK.fullmatch(text):
        return text
    return env.get(text, Unfilled(text, text))
