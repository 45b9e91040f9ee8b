"""Flow: branches that nothing decides, loops, and arithmetic commands."""

import re
from collections.abc import Callable, Sequence

from tree_sitter import Node

from service.formats.syntax.shell import branches
from service.formats.syntax.shell.arithmetic import ArithmeticFault, UndecidedNumber
from service.formats.syntax.shell.builtins import Builtins, LoopEnd, ScriptEnd
from service.formats.syntax.shell.conditions import Truth
from service.formats.syntax.words import Word

_SUCCESS = Truth(True)
_ORDINARY = Truth(None, ordinary=True)
_UPDATE = re.compile(r"(\w+)\s*(\+\+|--)|(\+\+|--)\s*(\w+)")
_SETTING = re.compile(r"(\w+)\s*([-+*/%]|<<|>>)?=(?!=)\s*(.+)", re.DOTALL)


class Flow(Builtins):
    """The part of the evaluator that decides which statements are followed, and how often."""

    def condition(self, nodes: list[Node]) -> Truth:
        """The truth of an `if` or `while`; a command that is not run decides nothing."""
        truth = _SUCCESS
        for each in nodes:
            truth = self.run(each)
        return Truth(None, (f"`{self.tree.text(nodes[-1])[:60]}`",)) if truth.ordinary and nodes else truth

    def guarded(self, follow: Callable[[], Truth]) -> Truth:
        """Follows a branch; a failing `exit` in it is a refusal to run, and the script is read as if it ran."""
        try:
            return follow()
        except ScriptEnd as end:
            if end.failing:
                return _SUCCESS
            raise

    def undecided(self, causes: Sequence[str], node: Node, ways: Sequence[Callable[[], object]]) -> None:
        """Follows every way from the same variables and keeps what they agree on."""
        label = " and ".join(dict.fromkeys(causes)) or f"the condition on {self.tree.where(node)}"
        before, positional = self.state.variables, self.state.positional
        outcomes: list[branches.Variables] = []
        ending: ScriptEnd | None = None
        for way in ways:
            self.state.budget.step(len(before) // 4)
            self.state.variables, self.state.positional = dict(before), list(positional)
            self.state.conditions.append(label)
            try:
                way()
                outcomes.append(self.state.variables)
            except ScriptEnd as end:
                ending = end
            except LoopEnd:
                outcomes.append(self.state.variables)
            finally:
                self.state.conditions.pop()
        self.state.variables, self.state.positional = before, positional
        if outcomes:
            self.state.variables = branches.merged(outcomes, self.state.holes, label, self.tree.where(node))
        elif ending and not ending.failing:
            raise ending

    def _for_statement(self, node: Node) -> Truth:
        variable = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        if variable is None or body is None:
            return _ORDINARY
        listed = any(each.type == "in" for each in node.children)
        values = [word for each in node.children_by_field_name("value") for word in self.expander.fields(each)]
        name = self.tree.text(variable)
        for word in values if listed else list(self.state.positional):
            self.state.assign(name, word)
            hole = self.state.holes.only(word.text)
            if hole is not None:
                self.undecided((hole.name,), node, [lambda: self.run(body), lambda: None])
            elif not self._loop_body(body):
                break
        return _SUCCESS

    def _while_statement(self, node: Node) -> Truth:
        body = node.child_by_field_name("body")
        tests = [each for each in node.children_by_field_name("condition") if each.is_named]
        wanted = node.children[0].type == "while"
        while body is not None:
            self.state.budget.step()
            truth = self.condition(tests)
            if truth.value is None:
                self.undecided(truth.causes, node, [lambda: self.run(body), lambda: None])
                break
            if truth.value is not wanted or not self._loop_body(body):
                break
        return _SUCCESS

    def _c_style_for_statement(self, node: Node) -> Truth:
        start, test, step = (node.child_by_field_name(each) for each in ("initializer", "condition", "update"))
        body = node.child_by_field_name("body")
        if start is not None:
            self.arithmetic(start)
        while body is not None:
            self.state.budget.step()
            truth = self.arithmetic(test) if test is not None else _SUCCESS
            if truth.value is None:
                self.undecided(truth.causes, node, [lambda: self.run(body), lambda: None])
                break
            if not truth.value or not self._loop_body(body):
                break
            if step is not None:
                self.arithmetic(step)
        return _SUCCESS

    def _loop_body(self, body: Node) -> bool:
        """Follows one round; False when it ends with `break`."""
        try:
            self.run(body)
        except LoopEnd as end:
            return not end.breaks
        return True

    def arithmetic(self, node: Node) -> Truth:
        """`(( … ))` and the parts of a counting loop: sets variables, and is true when not zero."""
        return self.calculated(self.expander.inlined(node), self.tree.where(node))

    def calculated(self, text: str, where: str) -> Truth:
        """Follows one expression, as `let` does."""
        update, setting = _UPDATE.fullmatch(text.strip()), _SETTING.fullmatch(text.strip())
        name, value = "", text
        if update:
            name = update.group(1) or update.group(4)
            value = f"{name} {(update.group(2) or update.group(3))[0]} 1"
        elif setting:
            name, operator, value = setting.groups()
            value = f"{name} {operator} ({value})" if operator else value
        try:
            number = self.expander.number_in(value, where)
        except UndecidedNumber as undecided:
            if name:
                self.state.assign(name, Word(str(undecided), where))
            return Truth(None, tuple(each.name for each in self.state.holes.within(str(undecided))))
        except ArithmeticFault:
            return Truth(None, (f"`{text.strip()[:60]}`",))
        if name:
            self.state.assign(name, Word(str(number), where))
        return Truth(number != 0)
