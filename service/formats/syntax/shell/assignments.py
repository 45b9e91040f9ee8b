"""Assignments: scalars, arrays, elements, and what `export`, `declare` and `unset` do to them."""

import re
from collections.abc import Mapping

from tree_sitter import Node

from service.formats.syntax.shell.conditions import Truth
from service.formats.syntax.shell.expansion import Expander
from service.formats.syntax.shell.state import State, elements, first
from service.formats.syntax.shell.tree import Tree
from service.formats.syntax.words import Word

NAME = re.compile(r"[A-Za-z_]\w*")


class Assignments:
    """The part of the evaluator that sets variables."""

    def __init__(self, state: State, tree: Tree) -> None:
        self.state = state
        self.tree = tree
        self.expander = Expander(state, tree)

    def assign(self, node: Node) -> None:
        """`X=…`, `X+=…`, `A=( … )`, `A[i]=…`."""
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if target is None:
            return
        adds = any(each.type == "+=" for each in node.children)
        if target.type == "subscript":
            self._assign_element(target, Word(self.expander.text(value) if value else "", self.tree.where(node)))
            return
        name = self.tree.text(target)
        if value is not None and value.type == "array":
            self._assign_array(name, value, adds=adds)
            return
        where = self.tree.where(node)
        text = self.expander.text(value) if value is not None else ""
        before = self.state.lookup(name) if adds else None
        old = first(before) or Word("", where)
        self.state.budget.grow(len(old.text))
        word = Word(old.text + text, old.where)
        self.state.assign(name, (word, *before[1:]) if isinstance(before, tuple) else word)

    def _assign_array(self, name: str, array: Node, *, adds: bool) -> None:
        before = self.state.lookup(name)
        items = [each for each in array.children if each.is_named and each.type != "comment"]
        keyed = [(each, self._key(each)) for each in items]
        if isinstance(before, Mapping) or (items and all(key is not None for _, key in keyed)):
            known = dict(before) if adds and isinstance(before, Mapping) else {}
            for item, key in keyed:
                text = self.expander.text(item)
                known[key or ""] = Word(text.partition("]=")[2], self.tree.where(item))
            self.state.assign(name, known)
            return
        added = tuple(word for each in items for word in self.expander.fields(each))
        kept = elements(before) if adds else ()
        self.state.budget.step(len(kept) // 16)
        self.state.assign(name, (*kept, *added))

    def _key(self, item: Node) -> str | None:
        """The key of `[key]=value` in an array's brackets, None for a plain element."""
        if item.type != "concatenation" or self.tree.text(item.children[0]) != "[":
            return None
        key, closing, _ = self.expander.text(item)[1:].partition("]=")
        return key if closing else None

    def _assign_element(self, target: Node, word: Word) -> None:
        name, key = self.expander.subscript(target)
        before = self.state.lookup(name)
        if isinstance(before, Mapping) or not re.fullmatch(r"[0-9]{1,9}", key):
            self.state.assign(name, {**(before if isinstance(before, Mapping) else {}), key: word})
            return
        items = list(elements(before))
        index = int(key)
        self.state.budget.step(max(index - len(items), 0) + len(items) // 16)
        items += [Word("")] * (index + 1 - len(items))
        items[index] = word
        self.state.assign(name, tuple(items))

    def _declaration_command(self, node: Node) -> Truth:
        """`export`, `declare`, `local`, `readonly`: their assignments count, their options do not."""
        for child in node.children[1:]:
            if child.type == "variable_assignment":
                self.assign(child)
            elif child.type in {"concatenation", "string", "word"}:
                self._assign_text(self.expander.text(child), self.tree.where(child))
        return Truth(True)

    def _assign_text(self, text: str, where: str) -> None:
        """An assignment that is only known after expansion: `export "$KEY"="$VALUE"`."""
        name, equals, value = text.partition("=")
        if equals and NAME.fullmatch(name):
            self.state.assign(name, Word(value, where))

    def _unset_command(self, node: Node) -> Truth:
        for child in node.children[1:]:
            self.state.variables.pop(self.tree.text(child), None)
        return Truth(True)
