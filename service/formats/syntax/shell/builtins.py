"""Commands: the shell's own are followed, functions and supplied files are read, everything else is recorded."""

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from tree_sitter import Node

from service.formats.syntax.shell.assignments import NAME, Assignments
from service.formats.syntax.shell.conditions import Operand, Test, Truth
from service.formats.syntax.shell.script import Command
from service.formats.syntax.shell.tree import Tree, parse
from service.formats.syntax.words import Word

_SUCCESS = Truth(True)
_ORDINARY = Truth(None, ordinary=True)
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "sbatch"})
_NOT_WORDS = frozenset({"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect", "comment"})
# Files of the machine or of a virtual environment: they set paths, not the job.
_MACHINE_FILES = re.compile(
    r"(activate|\.?bashrc|\.?bash_profile|\.?profile|conda\.sh|modules?\.sh|lmod\.sh|init/\w+)$"
)


class ScriptEnd(Exception):
    """An `exit` or `return`; failing when it reports an error."""

    def __init__(self, *, failing: bool) -> None:
        super().__init__()
        self.failing = failing


class LoopEnd(Exception):
    """A `break` or `continue`."""

    def __init__(self, *, breaks: bool) -> None:
        super().__init__()
        self.breaks = breaks


class Builtins(Assignments):
    """The part of the evaluator that deals with commands."""

    @abstractmethod
    def run(self, node: Node) -> Truth:
        """Follows one statement."""

    @abstractmethod
    def run_program(self) -> None:
        """Follows the whole tree."""

    @abstractmethod
    def calculated(self, text: str, where: str) -> Truth:
        """Follows one arithmetic expression, which may set a variable."""

    @abstractmethod
    def evaluator(self, tree: Tree) -> "Builtins":
        """An evaluator for another text in the same state."""

    def _redirected_statement(self, node: Node) -> Truth:
        body = node.child_by_field_name("body")
        heredoc = next((each for each in node.children if each.type == "heredoc_redirect"), None)
        if heredoc is None:
            return self.run(body) if body is not None else _SUCCESS
        text = self._heredoc(heredoc)
        words = self._words(body) if body is not None and body.type == "command" else []
        target = next(
            (each for part in (node, heredoc) for each in part.children if each.type == "file_redirect"), None
        )
        destination = target.child_by_field_name("destination") if target is not None else None
        if destination is not None:
            self.state.heredocs[self.state.holes.shown(self.expander.text(destination))] = text
        elif words and PurePosixPath(words[0].text).name in _SHELLS | {"ssh"}:
            self._nested(text, self.tree.where(node), tuple(words[:-1]))
        elif body is not None:
            return self.run(body)
        return _SUCCESS

    def _heredoc(self, node: Node) -> str:
        start = next((self.tree.text(each) for each in node.children if each.type == "heredoc_start"), "")
        body = next((each for each in node.children if each.type == "heredoc_body"), None)
        if body is None:
            return ""
        if start[:1] in {"'", '"', "\\"}:
            return self.tree.text(body)
        pieces = self.expander.pieces(body.children, body.start_byte, body.end_byte)
        return "".join(each if isinstance(each, str) else self.expander.text(each) for each in pieces)

    def _words(self, node: Node) -> list[Word]:
        named = [each for each in node.children if each.is_named and each.type not in _NOT_WORDS]
        return [word for each in named for word in self.expander.fields(each)]

    def _command(self, node: Node) -> Truth:
        environment = self._environment(node)
        words = self._words(node)
        if not words:
            return _SUCCESS
        name, where = words[0].text, self.tree.where(node)
        own = getattr(self, f"_run_{_OWN.get(name, '')}", None)
        if own is not None:
            truth: Truth = own(words, where)
            return truth
        if name in self.state.functions:
            return self._call(name, words[1:])
        if self._shell(words, where):
            return _ORDINARY
        if self._file(name) is not None:
            self._script(name, words[1:], where, ())
            return _ORDINARY
        self.state.commands.append(
            Command(tuple(words), where, self.state.wrappers, tuple(self.state.conditions), environment)
        )
        return _ORDINARY

    def _environment(self, node: Node) -> tuple[tuple[str, str], ...]:
        """The assignments in front of a command.

        The grammar also puts a line of two assignments in front of the command on the next line; those are plain.
        """
        children = node.children
        assignments = [index for index, child in enumerate(children[:-1]) if child.type == "variable_assignment"]
        plain = [
            index
            for index in assignments
            if "\n" in self.tree.span(children[index].end_byte, children[index + 1].start_byte).replace("\\\n", "")
        ]
        for index in assignments:
            if plain and index <= plain[-1]:
                self.assign(children[index])
        own = assignments[len([index for index in assignments if plain and index <= plain[-1]]) :]
        return tuple(self._pair(children[index]) for index in own)

    def _pair(self, assignment: Node) -> tuple[str, str]:
        name, value = assignment.child_by_field_name("name"), assignment.child_by_field_name("value")
        text = self.expander.text(value) if value is not None and value.type != "array" else ""
        return self.tree.text(name) if name is not None else "", text

    def _shell(self, words: list[Word], where: str) -> bool:
        """`bash -c '…'` or `bash file`, with whatever stands before it; False when it is neither."""
        for index, word in enumerate(words[:-1]):
            if word.text.rpartition("/")[2] not in _SHELLS:
                continue
            options = 1
            while index + options < len(words) and words[index + options].text.startswith("-"):
                options += 1
            if index + options >= len(words):
                return False
            target = words[index + options]
            if any("c" in each.text for each in words[index + 1 : index + options]) and word.text != "sbatch":
                self._nested(target.text, where, tuple(words[:index]))
                return True
            if self._file(target.text) is not None:
                self._script(target.text, words[index + options + 1 :], where, tuple(words[: index + options]))
                return True
            if target.text.endswith(".sh"):
                self.state.missing_files.setdefault(self.state.holes.shown(target.text), where)
            return False
        return False

    def _call(self, name: str, arguments: Sequence[Word]) -> Truth:
        tree, body = self.state.functions[name]
        self._with_arguments(arguments, lambda: self.evaluator(tree).run(body))
        return _ORDINARY

    def _script(self, name: str, arguments: Sequence[Word], where: str, wrappers: tuple[Word, ...]) -> None:
        text = self._file(name) or ""
        self._with_arguments(arguments, lambda: self._nested(text, where, wrappers, PurePosixPath(name).name))

    def _with_arguments(self, arguments: Sequence[Word], follow: Callable[[], object]) -> None:
        positional = self.state.positional
        self.state.positional = list(arguments)
        try:
            follow()
        except ScriptEnd:
            return
        finally:
            self.state.positional = positional

    def _nested(self, text: str, where: str, wrappers: tuple[Word, ...] = (), name: str = "") -> None:
        """Text that a shell of its own would read: its variables end with it."""
        tree = self._parsed(self.state.holes.as_variables(text), name or f"{where}:")
        variables, outer = dict(self.state.variables), self.state.wrappers
        self.state.budget.step(len(variables) // 4)
        self.state.wrappers = (*outer, *wrappers)
        try:
            with self.state.budget.deeper():
                self.evaluator(tree).run_program()
        finally:
            self.state.variables, self.state.wrappers = variables, outer

    def _parsed(self, text: str, name: str) -> Tree:
        self.state.budget.read(text)
        return parse(text, name)

    def _file(self, name: str) -> str | None:
        """The text of a supplied file, by its name or else by the last part of it."""
        plain = name.removeprefix("./")
        if plain in self.state.files:
            return self.state.files[plain]
        last = plain.rsplit("/", 1)[-1]
        found = [text for path, text in self.state.files.items() if path.rsplit("/", 1)[-1] == last]
        return found[0] if len(found) == 1 and "\x00" not in last else None

    def _run_nothing(self, _words: list[Word], _where: str) -> Truth:
        return _SUCCESS

    def _run_false(self, _words: list[Word], _where: str) -> Truth:
        return Truth(False)

    def _run_exit(self, words: list[Word], _where: str) -> Truth:
        raise ScriptEnd(failing=len(words) > 1 and words[1].text != "0")

    def _run_return(self, _words: list[Word], _where: str) -> Truth:
        raise ScriptEnd(failing=False)

    def _run_break(self, _words: list[Word], _where: str) -> Truth:
        raise LoopEnd(breaks=True)

    def _run_continue(self, _words: list[Word], _where: str) -> Truth:
        raise LoopEnd(breaks=False)

    def _run_shift(self, words: list[Word], _where: str) -> Truth:
        count = int(words[1].text) if len(words) > 1 and re.fullmatch(r"[0-9]{1,6}", words[1].text) else 1
        enough = count <= len(self.state.positional)
        self.state.positional = self.state.positional[count:] if enough else self.state.positional
        return Truth(enough)

    def _run_set(self, words: list[Word], _where: str) -> Truth:
        marks = [index for index, each in enumerate(words) if each.text == "--"]
        if marks:
            self.state.positional = words[marks[0] + 1 :]
        return _SUCCESS

    def _run_eval(self, words: list[Word], where: str) -> Truth:
        """The text that `eval` is given is read like the rest of the script; a part that is not known stays a hole."""
        text = " ".join(each.text for each in words[1:])
        self.evaluator(self._parsed(self.state.holes.as_variables(text), f"{where}:")).run_program()
        return _ORDINARY

    def _run_source(self, words: list[Word], where: str) -> Truth:
        if len(words) == 1:
            return _ORDINARY
        text = self._file(words[1].text)
        shown = self.state.holes.shown(words[1].text)
        text = self.state.heredocs.get(shown) if text is None else text
        if text is not None:
            self.evaluator(self._parsed(text, shown.rsplit("/", 1)[-1])).run_program()
        elif not _MACHINE_FILES.search(shown):
            self.state.missing_files.setdefault(shown, where)
        return _ORDINARY

    def _run_read(self, words: list[Word], where: str) -> Truth:
        for word in words[1:]:
            if NAME.fullmatch(word.text):
                self.state.assign(word.text, Word(self.state.hole(word.text, "inert", "is read at run time", where)))
        return _ORDINARY

    def _run_test(self, words: list[Word], where: str) -> Truth:
        return Test(self.expander, [Operand(each.text) for each in words[1:]], where).truth()

    def _run_let(self, words: list[Word], where: str) -> Truth:
        truth = _SUCCESS
        for word in words[1:]:
            truth = self.calculated(word.text, where)
        return truth

    def _run_getopts(self, _words: list[Word], where: str) -> Truth:
        """Options come from the script's own arguments; without any the loop is not entered."""
        return Truth(None, (f"getopts on {where}",)) if self.state.positional else Truth(False)


_OWN: Mapping[str, str] = {
    ":": "nothing",
    "true": "nothing",
    "false": "false",
    "exit": "exit",
    "return": "return",
    "break": "break",
    "continue": "continue",
    "shift": "shift",
    "set": "set",
    "eval": "eval",
    "source": "source",
    ".": "source",
    "read": "read",
    "mapfile": "read",
    "readarray": "read",
    "test": "test",
    "let": "let",
    "getopts": "getopts",
}
