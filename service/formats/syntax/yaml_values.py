"""A YAML text to plain values, in one pass over the events of libyaml's parser.

What is built is bounded while it is built: its depth and its size, with everything that aliases repeat.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

MOST_EVENTS = 300_000
"""Keys, values and both ends of collections in one text; what an alias repeats counts each time."""
_DEEPEST = 100
_SHOWN = 40
_CORE = "tag:yaml.org,2002:"
_SCALARS = frozenset(_CORE + each for each in ("null", "bool", "int", "float", "binary", "timestamp", "str"))


class YamlFault(ValueError):
    """A text of other than plain values, or of too many or too deep ones; `code` is the diagnostic's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class _Open:
    """A collection that is still being read; of a mapping keys and values alternate."""

    start: yaml.CollectionStartEvent | None
    items: list[Any]
    position: int = 0
    height: int = 1


@dataclass(frozen=True, slots=True)
class _Anchored:
    """A finished value, how many events repeat it, and how many levels it has."""

    value: Any
    size: int = 1
    height: int = 0


class _Merge:
    """The key `<<`, whose mappings are read as if they were written in its place."""


def yaml_documents(text: str, repeated: list[str]) -> Iterator[Any]:
    """The documents of a text, one by one; keys that a mapping holds twice are added to `repeated`.

    Raises yaml.YAMLError or ValueError for what is no YAML, and YamlFault for what is more than plain values.
    """
    return _Builder(repeated).documents(yaml.CSafeLoader(text))


class _Builder:
    """Values from events, without recursion."""

    def __init__(self, repeated: list[str]) -> None:
        self._repeated = repeated
        self._around = _Open(None, [])
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchored] = {}
        self._scalars = _Scalars()
        self._left = MOST_EVENTS

    def documents(self, parser: yaml.CSafeLoader) -> Iterator[Any]:
        """Each document when it is complete. Raises as `yaml_documents` does."""
        # Most events are texts and words that were seen before: they take the shortest way.
        scalar, resolved, value = yaml.ScalarEvent, self._scalars.resolved, self._scalars.value
        next_event: Callable[[], Any] = parser.get_event
        add = self._around.items.append
        for position in count(1):
            event = next_event()
            if position > self._left:
                raise YamlFault("too_large", f"a YAML text of more than {MOST_EVENTS:,} values is not read")
            if type(event) is scalar and event.anchor is None:
                text = event.value
                add(resolved[text] if event.implicit[0] and text in resolved else value(event))
            elif event is None:
                return
            elif type(event) is yaml.DocumentEndEvent:
                self._anchors.clear()
                yield self._around.items.pop()
            else:
                self._take(event, position)
                add = self._around.items.append

    def _take(self, event: yaml.Event, position: int) -> None:
        """Takes in what is no plain scalar."""
        if isinstance(event, yaml.CollectionStartEvent):
            self._start(event, position)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end(position)
        elif isinstance(event, yaml.ScalarEvent):
            value = self._scalars.value(event)
            self._around.items.append(value)
            if event.anchor is not None:
                self._anchors[event.anchor] = _Anchored(value)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise _fault(f"*{event.anchor} refers to nothing above it", event)
            anchored = self._anchors[event.anchor]
            self._left -= anchored.size
            self._around.items.append(anchored.value)
            self._grow(anchored.height)

    def _start(self, event: yaml.CollectionStartEvent, position: int) -> None:
        expected = "map" if isinstance(event, yaml.MappingStartEvent) else "seq"
        if event.tag not in {None, "!", _CORE + expected}:
            raise _fault(f"the tag {event.tag} is not read", event)
        self._open.append(self._around)
        # What aliases repeat within a collection is taken from what is left, and counts as its own.
        self._around = _Open(event, [], position - self._left)
        self._grow(0)

    def _end(self, position: int) -> None:
        done, self._around = self._around, self._open.pop()
        start = done.start
        value = self._mapping(start, done.items) if isinstance(start, yaml.MappingStartEvent) else done.items
        if start is not None and start.anchor is not None:
            self._anchors[start.anchor] = _Anchored(value, position - self._left - done.position, done.height)
        self._around.items.append(value)
        self._grow(done.height)

    def _grow(self, height: int) -> None:
        """Notes how many levels there are below the collection that is being read."""
        if len(self._open) + height > _DEEPEST:
            raise YamlFault("too_deep", f"the YAML text is nested more than {_DEEPEST} deep")
        if height >= self._around.height:
            self._around.height = height + 1

    def _mapping(self, start: yaml.MappingStartEvent, items: list[Any]) -> dict[Any, Any]:
        keys, values = items[::2], items[1::2]
        try:
            found = dict(zip(keys, values, strict=True))
        except TypeError:
            raise _fault("a collection is no key", start) from None
        if len(found) < len(keys):
            self._repeated.extend(str(key) for key, count in Counter(keys).items() if count > 1)
        if _Merge not in found:
            return found
        merged = found.pop(_Merge)
        around: dict[Any, Any] = {}
        for each in reversed(merged if isinstance(merged, list) else [merged]):
            if not isinstance(each, dict):
                raise _fault("<< takes mappings", start)
            around |= each
        return around | found


class _Scalars(SafeConstructor, Resolver):
    """The safe constructor's rules for numbers, booleans, dates and nothing; each plain text is resolved once."""

    def __init__(self) -> None:
        SafeConstructor.__init__(self)
        Resolver.__init__(self)
        self.resolved: dict[str, Any] = {}
        """What plain texts stand for, of those that were seen."""

    def value(self, event: yaml.ScalarEvent) -> Any:
        """What a scalar stands for."""
        text = event.value
        if event.tag is not None and event.tag != "!":
            return self._constructed(event.tag, event)
        if event.tag or not event.implicit[0]:
            return text
        if text not in self.resolved:
            # No text that begins with another character is anything but a text.
            if text[:1] in self.yaml_implicit_resolvers:
                tag = self.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
                self.resolved[text] = self._constructed(tag, event)
            else:
                self.resolved[text] = text
        return self.resolved[text]

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
