"""Statements: assignments, branches, loops, functions and commands, followed as far as the text decides them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tree_sitter import Node

from service.formats.syntax.shell.builtins import LoopEnd, ScriptEnd
from service.formats.syntax.shell.conditions import Test, Truth, operands
from service.formats.syntax.shell.flow import Flow
from service.formats.syntax.shell.patterns import escaped, matches
from service.formats.syntax.shell.script import Script
from service.formats.syntax.shell.state import State
from service.formats.syntax.shell.tree import ShellRefusal, Tree, parse
from service.formats.syntax.words import Word

_SEQUENCES = frozenset({"program", "compound_statement", "do_group", "subshell", "else_clause", "ERROR", "pipeline"})
_SUCCESS = Truth(True)
_ORDINARY = Truth(None, ordinary=True)
_MOST_FAULTS = 3


def read_script(
    text: str, *, env: Mapping[str, str], argv: Sequence[str] = (), files: Mapping[str, str] | None = None
) -> Script:
    """Follows a shell script without running it: its commands, its variables, and what it leaves open.

    `env` gives environment variables, `argv` the script's own arguments, `files` the texts of files that it may
    source. Never raises on bad text: what is wrong is among the diagnostics.
    """
    variables = {name: Word(value, f"environment {name}") for name, value in env.items()}
    state = State(dict(variables), [Word(each, "argv") for each in argv], files or {})
    try:
        Evaluator(state, parse(text)).run_program()
    except ShellRefusal as refusal:
        state.note(refusal.code, "error", str(refusal))
    return Script(
        commands=state.commands,
        variables=state.variables,
        holes=state.holes,
        missing_files=state.missing_files,
        heredocs=state.heredocs,
        diagnostics=state.diagnostics,
    )


class Evaluator(Flow):
    """Follows the statements of one tree in a state."""

    def run_program(self) -> None:
        """Follows the whole tree; an `exit` ends it."""
        faults = list(self.tree.faulty_lines())
        for line in faults[:_MOST_FAULTS]:
            self.state.note("syntax", "warning", f"line {line} cannot be read as shell", self.tree.name)
        if self.tree.joined:
            lines = ", ".join(map(str, self.tree.joined[:_MOST_FAULTS]))
            self.state.note(
                "comment_in_command",
                "warning",
                f"a comment stands inside a continued command (line {lines}); a shell would end the command there, "
                "and the flags below it are read as if it did not",
            )
        try:
            self.run(self.tree.root)
        except (ScriptEnd, LoopEnd):
            return

    def evaluator(self, tree: Tree) -> "Evaluator":
        """An evaluator for another text in the same state."""
        return Evaluator(self.state, tree)

    def run(self, node: Node) -> Truth:
        """Follows one statement and says whether it succeeds."""
        self.state.budget.step()
        with self.state.budget.deeper():
            follow = getattr(self, f"_{node.type}", None)
            if node.type in _SEQUENCES:
                return self.arithmetic(node) if node.child_count and node.children[0].type == "((" else self._all(node)
            return follow(node) if follow and node.is_named else _ORDINARY

    def _all(self, node: Node) -> Truth:
        last = _SUCCESS
        for child in node.children:
            if child.is_named and child.type != "comment":
                last = self.run(child)
        return last

    def _variable_assignment(self, node: Node) -> Truth:
        self.assign(node)
        return _SUCCESS

    def _variable_assignments(self, node: Node) -> Truth:
        return self._all(node)

    def _negated_command(self, node: Node) -> Truth:
        return self.run(node.children[-1]).negated()

    def _test_command(self, node: Node) -> Truth:
        if node.children[0].type == "((":
            return self.arithmetic(node)
        where = self.tree.where(node)
        return Test(self.expander, operands(self.expander, node), where).truth()

    def _list(self, node: Node) -> Truth:
        """`a && b || c`: the grammar nests to the left, so the chain is unrolled instead of descended."""
        chain: list[tuple[str, Node]] = []
        while node.type == "list":
            self.state.budget.step()
            chain.append((node.children[1].type, node.children[-1]))
            node = node.children[0]
        status = self.run(node)
        for operator, right in reversed(chain):
            holds = True if status.ordinary else status.value
            if holds is None:
                self.undecided(status.causes, right, [partial(self.run, right), lambda: None])
                status = Truth(None, status.causes)
            elif holds is (operator == "&&"):
                status = self.guarded(partial(self.run, right))
        return status

    def _if_statement(self, node: Node) -> Truth:
        arms: list[tuple[list[Node], list[Node]]] = [_arm(node)]
        otherwise: Node | None = None
        for child in node.children:
            if child.type == "elif_clause":
                arms.append(_arm(child))
            elif child.type == "else_clause":
                otherwise = child
        self._choose([(partial(self.condition, tests), body) for tests, body in arms], otherwise, node)
        return _SUCCESS

    def _case_statement(self, node: Node) -> Truth:
        value = node.child_by_field_name("value")
        subject = self.expander.text(value) if value else ""
        items = [each for each in node.children if each.type == "case_item"]
        self._choose([(partial(self._case_truth, item, subject), _body(item)) for item in items], None, node)
        return _SUCCESS

    def _case_truth(self, item: Node, subject: str) -> Truth:
        labels = item.children_by_field_name("value")
        texts = [self.expander.text(each) for each in labels]
        holes = self.state.holes.within("".join([subject, *texts]))
        if holes and texts != ["*"]:
            return Truth(None, tuple(each.name for each in holes))
        quoted = [each.type in {"string", "raw_string"} for each in labels]
        found = [
            matches(escaped(text) if literal else text, subject) for text, literal in zip(texts, quoted, strict=True)
        ]
        if True in found or texts == ["*"]:
            return Truth(True)
        return Truth(None if None in found else False, (f"case on {self.tree.where(item)}",))

    def _choose(self, arms: list[tuple[Callable[[], Truth], list[Node]]], otherwise: Node | None, node: Node) -> None:
        """Follows the first arm that holds; from the first undecided one on, all that may hold."""
        open_bodies: list[list[Node]] = []
        causes: tuple[str, ...] = ()
        for condition, body in arms:
            truth = condition()
            if truth.value is False:
                continue
            open_bodies.append(body)
            if truth.value:
                break
            causes += truth.causes
        else:
            open_bodies.append([otherwise] if otherwise else [])
        if not causes:
            taken = open_bodies[0]
            self._skip([each for _, body in arms if body is not taken for each in body])
            self.guarded(lambda: self._each(taken))
            return
        self.undecided(causes, node, [partial(self._each, body) for body in open_bodies])

    def _skip(self, nodes: Sequence[Node]) -> None:
        """Remembers variables that a branch which is not taken would set to flags: without it they are empty."""
        waiting = list(nodes)
        while waiting:
            self.state.budget.step()
            node = waiting.pop()
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if node.type != "variable_assignment":
                waiting.extend(node.named_children)
            elif name is not None and value is not None and self.tree.text(value).lstrip("\"' \n\\").startswith("-"):
                self.state.optional.add(self.tree.text(name))

    def _each(self, nodes: Sequence[Node]) -> Truth:
        last = _SUCCESS
        for node in nodes:
            last = self.run(node)
        return last

    def _function_definition(self, node: Node) -> Truth:
        name = node.child_by_field_name("name")
        if name is not None:
            self.state.functions[self.tree.text(name)] = (self.tree, node.children[-1])
        return _SUCCESS


def _arm(node: Node) -> tuple[list[Node], list[Node]]:
    """The conditions and the body of an `if` or `elif`."""
    children = [each for each in node.children if each.type not in {"elif_clause", "else_clause"}]
    cut = next((index for index, each in enumerate(children) if each.type == "then"), len(children))
    return _named(children[:cut]), _named(children[cut:])


def _body(item: Node) -> list[Node]:
    """The statements of a case item."""
    cut = next((index for index, each in enumerate(item.children) if each.type == ")"), 0)
    return _named(item.children[cut:])


def _named(nodes: Sequence[Node]) -> list[Node]:
    return [each for each in nodes if each.is_named and each.type != "comment"]
