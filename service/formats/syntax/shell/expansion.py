"""Words of a syntax tree to text: quoting, variables, arrays, arithmetic, field splitting."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from service.formats.syntax.shell.arithmetic import ArithmeticFault, UndecidedNumber, arithmetic
from service.formats.syntax.shell.parameters import Parameters
from service.formats.syntax.words import Word

_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
_QUOTED_ESCAPE = re.compile(r'\\(\n|[$`"\\])')
_BLANKS = re.compile(r"[ \t\n]+")
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_EXPANSIONS = frozenset({"simple_expansion", "expansion", "string", "raw_string"}) | _SUBSTITUTIONS
_SHOWN = 60
# A short word costs as much to make as this many characters.
_WORD_COST = 64


class Fields:
    """Collects the fields that one word expands to."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.done: list[Word] = []
        self._open: list[str] | None = None
        self._place = ""

    def literal(self, text: str, where: str = "") -> None:
        """Text that is never split; even an empty one makes a field."""
        if self._open is None:
            self._open = []
            self._place = where or self.where
        self._open.append(text)

    def split(self, value: Word) -> None:
        """Text that is split at blanks, as unquoted expansions are."""
        pieces = _BLANKS.split(value.text)
        for index, piece in enumerate(pieces):
            if index:
                self.close()
            if piece:
                self.literal(piece, value.where)

    def several(self, values: tuple[Word, ...]) -> None:
        """Each element a field of its own, as `"${A[@]}"`; the first joins what stands before it."""
        for index, value in enumerate(values):
            if index:
                self.close()
            self.literal(value.text, value.where)

    def close(self) -> None:
        """Ends the current field."""
        if self._open is not None:
            self.done.append(Word("".join(self._open), self._place))
            self._open = None


class Expander(Parameters):
    """Expands the words of one tree in a state."""

    def fields(self, node: Node) -> list[Word]:
        """The fields of a word in a command or an array."""
        out = Fields(self.tree.where(node))
        self._walk(node, out, quoted=False)
        out.close()
        for word in out.done:
            self.state.budget.grow(len(word.text) + _WORD_COST)
        return out.done

    def text(self, node: Node) -> str:
        """The text of a word where nothing is split: assignments, tests, defaults."""
        out = Fields(self.tree.where(node))
        self._walk(node, out, quoted=True)
        out.close()
        joined = " ".join(word.text for word in out.done)
        self.state.budget.grow(len(joined))
        return joined

    def number(self, node: Node) -> int:
        """The value of an arithmetic expression. Raises UndecidedNumber or ArithmeticFault."""
        return self.number_in(self.inlined(node), self.tree.where(node))

    def number_in(self, text: str, where: str) -> int:
        """The value of arithmetic text. Raises UndecidedNumber or ArithmeticFault."""
        holes = self.state.holes.within(text)
        if holes:
            raise UndecidedNumber(self.state.holes.mark(holes[0]))
        return arithmetic(text, lambda name: self._integer(name, where))

    def _integer(self, name: str, where: str) -> int:
        value = self.state.scalar(name)
        text = self.state.unset(name, where) if value is None else value.text.strip()
        holes = self.state.holes.within(text)
        if holes:
            raise UndecidedNumber(self.state.holes.mark(holes[0]))
        if not re.fullmatch(r"-?\d{1,19}", text or "0"):
            raise ArithmeticFault(f'{name} is "{text[:_SHOWN]}", not a number')
        return int(text or "0")

    def inlined(self, node: Node) -> str:
        """An arithmetic expression's text with its `$` expansions done; bare names stay names."""
        self.state.budget.step()
        if node.type in _EXPANSIONS:
            return self.text(node)
        if node.type == "subscript":
            value = self.element(node)
            return self.state.unset(self.tree.text(node), self.tree.where(node)) if value is None else value.text
        if not node.children:
            return self.tree.text(node)
        with self.state.budget.deeper():
            inner = [each for each in node.children if each.type not in {"$((", "))", "((", "$["}]
            return " ".join(self.inlined(each) for each in inner)

    def _walk(self, node: Node, out: Fields, *, quoted: bool) -> None:
        self.state.budget.step()
        kind = node.type
        if kind in {"string", "translated_string"}:
            self._string(node, out)
        elif kind == "raw_string":
            out.literal(self.tree.text(node)[1:-1])
        elif kind == "ansi_c_string":
            out.literal(self.tree.text(node)[2:-1].replace(r"\n", "\n").replace(r"\t", "\t"))
        elif kind in {"concatenation", "command_name", "array"}:
            with self.state.budget.deeper():
                for child in node.children:
                    self._walk(child, out, quoted=quoted)
        elif kind in {"simple_expansion", "expansion"}:
            self._expansion(node, out, quoted=quoted)
        elif kind == "arithmetic_expansion":
            out.literal(self._arithmetic(node))
        elif kind in _SUBSTITUTIONS:
            out.literal(self.inert(node))
        elif kind == "brace_expression":
            self._range(node, out)
        else:
            out.literal(_ESCAPE.sub(lambda found: found.group(1).strip("\n"), self.tree.text(node)))

    def _string(self, node: Node, out: Fields) -> None:
        """A double-quoted string. The grammar leaves blanks out of its parts, so literal text is what lies between."""
        start, end = node.children[0].end_byte, node.children[-1].start_byte
        inner = node.children[1:-1]
        if len(inner) == 1 and (inner[0].start_byte, inner[0].end_byte) == (start, end):
            # `"$@"` and `"${A[@]}"` make no field at all when there are no elements.
            self._walk(inner[0], out, quoted=True)
            return
        out.literal("")
        for piece in self.pieces(inner, start, end):
            if isinstance(piece, Node):
                self._walk(piece, out, quoted=True)
            else:
                out.literal(_QUOTED_ESCAPE.sub(lambda found: found.group(1).strip("\n"), piece))

    def pieces(self, children: list[Node], start: int, end: int) -> Iterator[Node | str]:
        """Expansions among the children of a quoted text, and the literal texts between them."""
        for child in children:
            if child.type in {"string_content", "heredoc_content", '"'}:
                continue
            # Between two expansions the grammar counts the blanks to the second one.
            opening = self.tree.text(child.children[0] if child.children else child)
            yield self.tree.span(start, child.start_byte + len(opening) - len(opening.lstrip()))
            yield child
            start = child.end_byte
        yield self.tree.span(start, end)

    def _expansion(self, node: Node, out: Fields, *, quoted: bool) -> None:
        value = self.parameter(node)
        if isinstance(value, Word):
            if quoted:
                out.literal(value.text, value.where)
            else:
                out.split(value)
        elif quoted and not self.joins(node):
            out.several(value)
        elif quoted:
            out.literal(" ".join(each.text for each in value))
        else:
            for index, each in enumerate(value):
                if index:
                    out.close()
                out.split(each)

    def _arithmetic(self, node: Node) -> str:
        try:
            return str(self.number(node))
        except UndecidedNumber as undecided:
            return str(undecided)
        except ArithmeticFault as fault:
            return self.state.hole(self._clipped(node), "inert", f"cannot be computed: {fault}", self.tree.where(node))

    def inert(self, node: Node) -> str:
        """The marker for a substitution: its text is shown, never run."""
        reason = "is a command's output, and no command is run"
        return self.state.hole(self._clipped(node), "inert", reason, self.tree.where(node))

    def _clipped(self, node: Node) -> str:
        text = self.tree.span(node.start_byte, min(node.end_byte, node.start_byte + _SHOWN))
        return " ".join(text.split()) + ("…" if node.end_byte - node.start_byte > _SHOWN else "")

    def _range(self, node: Node, out: Fields) -> None:
        """`{1..4}`: one field for each number."""
        ends = [self.tree.text(each) for each in node.children if each.type == "number"]
        if len(ends) != 2 or not all(re.fullmatch(r"-?\d{1,9}", each) for each in ends):  # noqa: PLR2004
            out.literal(self.tree.text(node))
            return
        low, high = int(ends[0]), int(ends[1])
        self.state.budget.step(abs(high - low) + 1)
        step = 1 if high >= low else -1
        for index, number in enumerate(range(low, high + step, step)):
            if index:
                out.close()
            out.literal(str(number))
