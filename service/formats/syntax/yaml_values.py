"""A YAML text to plain values, in one pass over the events of libyaml's parser.

What is built is bounded while it is built: its depth and its size, with everything that aliases repeat.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

MOST_VALUES = 200_000
"""Keys, values and collections of one text; what an alias repeats counts each time."""
_DEEPEST = 100
_SHOWN = 40
_CORE = "tag:yaml.org,2002:"
_SCALARS = frozenset(_CORE + each for each in ("null", "bool", "int", "float", "binary", "timestamp", "str"))


class YamlFault(ValueError):
    """A text of other than plain values, or of too many or too deep ones; `code` is the diagnostic's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


_Built = tuple[Any, int, int]
"""A finished value, how many values it holds with itself, and how many levels."""


@dataclass(slots=True)
class _Open:
    """A collection that is still being read; of a mapping keys and values alternate."""

    start: yaml.CollectionStartEvent
    items: list[Any]
    size: int = 1
    height: int = 1


class _Merge:
    """The key `<<`, whose mappings are read as if they were written in its place."""


def yaml_documents(text: str, repeated: list[str]) -> Iterator[Any]:
    """The documents of a text, one by one; keys that a mapping holds twice are added to `repeated`.

    Raises yaml.YAMLError or ValueError for what is no YAML, and YamlFault for what is more than plain values.
    """
    builder, parser = _Builder(repeated), yaml.CSafeLoader(text)
    while (event := parser.get_event()) is not None:
        builder.take(event)
        if isinstance(event, yaml.DocumentEndEvent):
            yield builder.document


class _Builder:
    """Values from events, without recursion."""

    def __init__(self, repeated: list[str]) -> None:
        self.document: Any = None
        self._repeated = repeated
        self._open: list[_Open] = []
        self._anchors: dict[str, _Built] = {}
        self._scalars = _Scalars()
        self._left = MOST_VALUES

    def take(self, event: yaml.Event) -> None:
        """Takes the next event in. Raises as `yaml_documents` does."""
        if isinstance(event, yaml.ScalarEvent):
            self._add((self._scalars.value(event), 1, 0), event.anchor)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._start(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end(self._open.pop())
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise _fault(f"*{event.anchor} refers to nothing above it", event)
            self._add(self._anchors[event.anchor], None)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.document = None
            self._anchors.clear()

    def _start(self, event: yaml.CollectionStartEvent) -> None:
        expected = "map" if isinstance(event, yaml.MappingStartEvent) else "seq"
        if event.tag not in {None, "!", _CORE + expected}:
            raise _fault(f"the tag {event.tag} is not read", event)
        self._open.append(_Open(event, []))
        self._within(0)

    def _end(self, done: _Open) -> None:
        mapping = isinstance(done.start, yaml.MappingStartEvent)
        value = self._mapping(done) if mapping else done.items
        self._add((value, done.size, done.height), done.start.anchor)

    def _add(self, built: _Built, anchor: str | None) -> None:
        """Puts a finished value where it belongs."""
        value, size, height = built
        self._left -= size
        if self._left < 0:
            raise YamlFault("too_large", f"a YAML text of more than {MOST_VALUES:,} values is not read")
        if anchor is not None:
            self._anchors[anchor] = built
        if not self._open:
            self.document = value
            return
        self._within(height)
        around = self._open[-1]
        around.items.append(value)
        around.size += size
        if height >= around.height:
            around.height = height + 1

    def _within(self, height: int) -> None:
        if len(self._open) + height > _DEEPEST:
            raise YamlFault("too_deep", f"the YAML text is nested more than {_DEEPEST} deep")

    def _mapping(self, done: _Open) -> dict[Any, Any]:
        keys, values = done.items[::2], done.items[1::2]
        try:
            found = dict(zip(keys, values, strict=True))
        except TypeError:
            raise _fault("a collection is no key", done.start) from None
        if len(found) < len(keys):
            self._repeated.extend(str(key) for key, count in Counter(keys).items() if count > 1)
        if _Merge not in found:
            return found
        merged = found.pop(_Merge)
        around: dict[Any, Any] = {}
        for each in reversed(merged if isinstance(merged, list) else [merged]):
            if not isinstance(each, dict):
                raise _fault("<< takes mappings", done.start)
            around |= each
        return around | found


class _Scalars(SafeConstructor, Resolver):
    """The safe constructor's rules for numbers, booleans, dates and nothing; each plain text is resolved once."""

    def __init__(self) -> None:
        SafeConstructor.__init__(self)
        Resolver.__init__(self)
        self._plain: dict[str, Any] = {}

    def value(self, event: yaml.ScalarEvent) -> Any:
        """What a scalar stands for."""
        text = event.value
        if event.tag is not None and event.tag != "!":
            return self._constructed(event.tag, event)
        if event.tag or not event.implicit[0]:
            return text
        if text not in self._plain:
            tag = self.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
            self._plain[text] = self._constructed(tag, event)
        return self._plain[text]

    def _constructed(self, tag: str, event: yaml.ScalarEvent) -> Any:
        if tag == _CORE + "merge":
            return _Merge
        if tag == _CORE + "value":
            return event.value
        if tag not in _SCALARS:
            raise _fault(f"the tag {tag} is not read", event)
        try:
            return self.yaml_constructors[tag](self, yaml.ScalarNode(tag, event.value))
        except (ValueError, LookupError, TypeError, OverflowError, yaml.YAMLError):
            kind = tag.removeprefix(_CORE)
            raise _fault(f'the text "{event.value[:_SHOWN]}" is no {kind}', event) from None


def _fault(problem: str, event: yaml.Event) -> YamlFault:
    line = f"line {event.start_mark.line + 1}: " if event.start_mark else ""
    return YamlFault("syntax", f"{line}{problem}")
