"""Conditions: `[ ]`, `[[ ]]`, `test` and `(( ))`, decided only when nothing but the text is needed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from service.formats.syntax.shell import patterns
from service.formats.syntax.shell.arithmetic import ArithmeticFault, UndecidedNumber
from service.formats.syntax.shell.expansion import Expander
from service.formats.syntax.words import shown_name

_NESTED = frozenset({"binary_expression", "unary_expression", "parenthesized_expression", "negated_command"})
_BRACKETS = frozenset({"[", "]", "[[", "]]"})
_UNARY = re.compile(r"-[a-zA-Z]")
_COMPARISONS = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
}
_BINARY = frozenset({"=", "==", "!=", "=~", "<", ">", "-nt", "-ot", "-ef", *_COMPARISONS})
_NOT_GIVEN = frozenset({"unset", "positional"})


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition's value; None when undecided, with what would decide it.

    `ordinary` marks the exit status of a command that is not run: a script means it to succeed.
    """

    value: bool | None
    causes: tuple[str, ...] = ()
    ordinary: bool = False

    def negated(self) -> "Truth":
        """The opposite; what is undecided stays so."""
        return Truth(None if self.value is None else not self.value, self.causes)


@dataclass(frozen=True, slots=True)
class Operand:
    """One token of a test; `literal` when it was quoted, so that `*` in it is no pattern."""

    text: str
    literal: bool = False


def operands(expander: Expander, node: Node) -> list[Operand]:
    """The tokens of a `[ ]` or `[[ ]]` in order: the grammar's own nesting ignores the precedence of `-a` and `-o`."""
    found: list[Operand] = []
    for child in node.children:
        if child.type in _NESTED:
            with expander.state.budget.deeper():
                found += operands(expander, child)
        elif child.type in _BRACKETS:
            continue
        elif child.is_named and child.type != "test_operator":
            found.append(Operand(expander.text(child), literal=child.type in {"string", "raw_string"}))
        else:
            found.append(Operand(expander.tree.text(child)))
    return found


class Test:
    """Reads `or := and (-o and)*`, `and := not (-a not)*`, `not := ! not | ( or ) | -z x | x = y | x`."""

    def __init__(self, expander: Expander, tokens: Sequence[Operand], where: str) -> None:
        self._expander = expander
        self._holes = expander.state.holes
        self._tokens = list(tokens)[::-1]
        self._where = where

    def truth(self) -> Truth:
        """The value of the whole test; undecided when it cannot be read."""
        value = self._or()
        return value if not self._tokens else Truth(None, (f"the test on {self._where}",))

    def _or(self) -> Truth:
        value = self._and()
        while self._take("-o", "||"):
            other = self._and()
            value = _joined(value, other, dominant=True)
        return value

    def _and(self) -> Truth:
        value = self._not()
        while self._take("-a", "&&"):
            other = self._not()
            value = _joined(value, other, dominant=False)
        return value

    def _not(self) -> Truth:
        with self._expander.state.budget.deeper():
            if self._take("!"):
                return self._not().negated()
            if self._take("("):
                value = self._or()
                self._take(")")
                return value
            return self._primary()

    def _primary(self) -> Truth:
        if not self._tokens:
            return Truth(False)
        left = self._tokens.pop()
        if _UNARY.fullmatch(left.text) and not left.literal and self._tokens and self._tokens[-1].text not in _BINARY:
            return self._unary(left.text, self._tokens.pop().text)
        if self._tokens and self._tokens[-1].text in _BINARY:
            operator = self._tokens.pop().text
            return self._binary(left.text, operator, self._tokens.pop() if self._tokens else Operand(""))
        return self._is_empty(left.text).negated()

    def _unary(self, operator: str, text: str) -> Truth:
        if operator in {"-z", "-n"}:
            empty = self._is_empty(text)
            return empty if operator == "-z" else empty.negated()
        if operator == "-v":
            return Truth(self._expander.state.lookup(text) is not None)
        if operator in {"-f", "-e", "-s", "-r"} and text in self._expander.state.files:
            return Truth(True)
        return Truth(None, (f"[ {operator} {self._holes.shown(text)} ]",))

    def _is_empty(self, text: str) -> Truth:
        holes = self._holes.within(text)
        if not holes:
            return Truth(text == "")
        if self._blank(text):
            return Truth(False)
        unknown = tuple(shown_name(each.name) for each in holes if each.kind not in _NOT_GIVEN)
        return Truth(None, unknown) if unknown else Truth(True)

    def _binary(self, left: str, operator: str, right: Operand) -> Truth:
        if operator in _COMPARISONS:
            return self._compared(left, operator, right.text)
        if operator not in {"=", "==", "!="}:
            return Truth(None, (f"the test on {self._where}",))
        equal = self._equal(left, right)
        return equal.negated() if operator == "!=" else equal

    def _equal(self, left: str, right: Operand) -> Truth:
        holes = self._holes.within(left + right.text)
        if holes:
            # `[ "x$X" = x ]` asks whether X is empty; a variable that was not given is.
            asks_for_empty = all(each.kind in _NOT_GIVEN for each in holes)
            if asks_for_empty and self._blank(left) == self._blank(right.text):
                return Truth(True)
            return Truth(None, tuple(each.name for each in holes))
        pattern = patterns.escaped(right.text) if right.literal else right.text
        value = patterns.matches(pattern, left)
        return Truth(value, () if value is not None else (f"the test on {self._where}",))

    def _compared(self, left: str, operator: str, right: str) -> Truth:
        try:
            numbers = [self._expander.number_in(each.strip() or "0", self._where) for each in (left, right)]
        except UndecidedNumber as undecided:
            return Truth(None, tuple(each.name for each in self._holes.within(str(undecided))))
        except ArithmeticFault:
            return Truth(None, (f"the test on {self._where}",))
        return Truth(_COMPARISONS[operator](*numbers))

    def _blank(self, text: str) -> str:
        """The text with its holes taken out."""
        return re.sub("\x00\\d+\x00", "", text)

    def _take(self, *texts: str) -> bool:
        if self._tokens and self._tokens[-1].text in texts and not self._tokens[-1].literal:
            self._tokens.pop()
            return True
        return False


def _joined(left: Truth, right: Truth, *, dominant: bool) -> Truth:
    """Two conditions joined by `or` (dominant True) or `and` (dominant False)."""
    if left.value is dominant or right.value is dominant:
        return Truth(dominant)
    if left.value is None or right.value is None:
        return Truth(None, left.causes + right.causes)
    return Truth(not dominant)
