"""Parameter expansion: `$X`, `${X:-d}`, `${A[@]:1}`, `${X##*/}`, `${X/a/b}`, `${#A[@]}` and the rest of the family."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping

from tree_sitter import Node

from service.formats.syntax.shell import patterns
from service.formats.syntax.shell.arithmetic import ArithmeticFault, UndecidedNumber
from service.formats.syntax.shell.script import Value
from service.formats.syntax.shell.state import State, elements, first
from service.formats.syntax.shell.tree import Tree
from service.formats.syntax.words import Word

Expanded = Word | tuple[Word, ...]

_ALL = frozenset({"@", "*"})
_LONGEST_TRIAL = 4_000
_CASES = {"^": "upper first", "^^": "upper", ",": "lower first", ",,": "lower"}


class Parameters(ABC):
    """Expands parameters of one tree in a state; `Expander` adds what words need besides."""

    def __init__(self, state: State, tree: Tree) -> None:
        self.state = state
        self.tree = tree

    @abstractmethod
    def text(self, node: Node) -> str:
        """The text of a word where nothing is split."""

    @abstractmethod
    def number_in(self, text: str, where: str) -> int:
        """The value of arithmetic text. Raises UndecidedNumber or ArithmeticFault."""

    def parameter(self, node: Node) -> Expanded:
        """What a `$X` or `${…}` node stands for: one word, or the elements of `[@]`, `[*]`, `$@` and `$*`."""
        parts = node.children[1:] if node.type == "simple_expansion" else node.children[1:-1]
        if len(parts) > 1 and parts[0].type in {"#", "!"} and not parts[0].is_named:
            return self._length(parts[1]) if parts[0].type == "#" else self._indirect(parts[1], node)
        if not parts:
            return Word("")
        value = self._value(parts[0])
        if len(parts) == 1:
            return self._known(value, parts[0])
        return self._operated(value, parts, node)

    def element(self, node: Node) -> Word | None:
        """The element that a subscript names, as one word; None when it is not set."""
        return first(self._value(node))

    def subscript(self, node: Node) -> tuple[str, str]:
        """Name and key of a subscript; an arithmetic key is computed unless the array is associative."""
        name, *keys = [each for each in node.children if each.type not in {"[", "]"}]
        array = self.tree.text(name)
        key = self.text(keys[0]) if keys else ""
        if key in _ALL or re.fullmatch(r"-?\d*", key) or isinstance(self.state.lookup(array), Mapping):
            return array, key
        try:
            return array, str(self.number_in(key, self.tree.where(node)))
        except (ArithmeticFault, UndecidedNumber):
            return array, key

    def joins(self, node: Node) -> bool:
        """Whether the elements are joined when quoted (`$*`, `${A[*]}`)."""
        text = self.tree.text(node).strip()
        return text == "$*" or "[*]" in text

    def _value(self, subject: Node) -> Expanded | None:
        if subject.type != "subscript":
            name = self.tree.text(subject)
            value = self.state.lookup(name)
            return elements(value) if name in _ALL else first(value)
        array, key = self.subscript(subject)
        value = self.state.lookup(array)
        if key in _ALL:
            # An array cannot come from the environment: without an assignment it is empty.
            return elements(value)
        return _element(value, key)

    def _known(self, value: Expanded | None, subject: Node) -> Expanded:
        if value is not None:
            return value
        name = self.tree.text(subject.children[0] if subject.type == "subscript" else subject)
        return Word(self.state.unset(name, self.tree.where(subject)), self.tree.where(subject))

    def _length(self, subject: Node) -> Word:
        value = self._value(subject)
        if value is None:
            return Word("0")
        if isinstance(value, tuple):
            return Word(str(len(value)))
        return value if self.state.holes.within(value.text) else Word(str(len(value.text)))

    def _indirect(self, subject: Node, node: Node) -> Expanded:
        """`${!V}`: the variable that V names. `${!A[@]}`: the keys of A."""
        if subject.type == "subscript":
            value = self.state.lookup(self.tree.text(subject.children[0]))
            keys = value.keys() if isinstance(value, Mapping) else map(str, range(len(elements(value))))
            return tuple(Word(key) for key in keys)
        named = self._known(self._value(subject), subject)
        text = named.text if isinstance(named, Word) else ""
        if self.state.holes.within(text) or not re.fullmatch(r"\w+", text):
            return named
        value = self.state.scalar(text)
        return Word(self.state.unset(text, self.tree.where(node))) if value is None else value

    def _operated(self, value: Expanded | None, parts: list[Node], node: Node) -> Expanded:
        operator = parts[1].type
        if operator.lstrip(":") in {"-", "=", "?", "+"}:
            return self._default(value, operator, parts, node)
        known = self._known(value, parts[0])
        if operator == ":":
            return self._slice(known, parts[2:], node)
        if isinstance(known, tuple):
            return tuple(self._altered(each, operator, parts[2:], node) for each in known)
        return self._altered(known, operator, parts[2:], node)

    def _default(self, value: Expanded | None, operator: str, parts: list[Node], node: Node) -> Expanded:
        missing = self._is_null(value, colon=operator.startswith(":"))
        where = self.tree.where(node)
        if operator.endswith("+"):
            return Word("" if missing else self._rest(parts, node), where)
        if not missing and value is not None:
            return value
        if operator.endswith("?"):
            return self._known(None, parts[0])
        word = Word(self._rest(parts, node), where)
        if operator.endswith("=") and parts[0].type == "variable_name":
            self.state.assign(self.tree.text(parts[0]), word)
        return word

    def _is_null(self, value: Expanded | None, *, colon: bool) -> bool:
        """Whether a default applies; a variable that was not given counts as unset, as it would at run time."""
        if value is None or isinstance(value, tuple):
            return not value
        hole = self.state.holes.only(value.text)
        return (colon and value.text == "") or (hole is not None and hole.kind in {"unset", "positional"})

    def _rest(self, parts: list[Node], node: Node) -> str:
        """The text behind the operator, up to the closing brace."""
        start = parts[1].end_byte
        texts: list[str] = []
        for part in parts[2:]:
            texts += [self.tree.span(start, part.start_byte), self.text(part)]
            start = part.end_byte
        return "".join([*texts, self.tree.span(start, node.children[-1].start_byte)])

    def _slice(self, value: Expanded, parts: list[Node], node: Node) -> Expanded:
        where = self.tree.where(node)
        bounds = [self.text(each) for each in parts if each.type != ":"]
        try:
            offset, *length = [self.number_in(each, where) for each in bounds] or [0]
        except (ArithmeticFault, UndecidedNumber):
            return Word(self.state.hole(self.tree.text(node)[:60], "inert", "cannot be computed", where), where)
        if isinstance(value, tuple):
            # `${@:1}` counts from $1, arrays count from 0.
            start = max(offset - 1, 0) if self.tree.text(node).startswith("${@") else offset
            return value[start : start + length[0]] if length else value[start:]
        if self.state.holes.within(value.text):
            return value
        return Word(value.text[offset : offset + length[0]] if length else value.text[offset:], value.where)

    def _altered(self, value: Word, operator: str, parts: list[Node], node: Node) -> Word:
        """One word after `#`, `%`, `/`, `^` or `,` and their doubles."""
        words = [self.text(each) for each in parts if each.is_named]
        holes = self.state.holes.within("".join([value.text, *words]))
        if holes:
            return Word(self.state.holes.mark(holes[0]), value.where)
        pattern = words[0] if words else ""
        result: str | None = None
        if operator[0] in "#%":
            # Every prefix or suffix may have to be tried.
            self.state.budget.step(min(len(value.text), _LONGEST_TRIAL) // 2)
            result = patterns.trimmed(value.text, pattern, operator)
        elif operator[0] == "/":
            replacement = words[1] if len(words) > 1 else ""
            self.state.budget.grow(value.text.count(pattern or " ") * len(replacement))
            result = patterns.replaced(value.text, pattern, replacement, operator)
        elif operator in _CASES:
            result = _cased(value.text, _CASES[operator])
        if result is None:
            where = self.tree.where(node)
            result = self.state.hole(self.tree.text(node)[:60], "inert", "is an expansion that is not read", where)
        return Word(result, value.where)


def _element(value: Value | None, key: str) -> Word | None:
    """One element: by name in an associative array, by index (from the end when negative) in others."""
    if isinstance(value, Mapping):
        return value.get(key)
    if not re.fullmatch(r"-?\d{1,9}", key):
        return None
    index = int(key)
    items = elements(value)
    return items[index] if -len(items) <= index < len(items) else None


def _cased(text: str, how: str) -> str:
    if how.endswith("first"):
        head = text[:1].upper() if how.startswith("upper") else text[:1].lower()
        return head + text[1:]
    return text.upper() if how == "upper" else text.lower()
