"""The evaluator's state: variables, positional parameters, functions, what was found, and what is left to spend."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import tree_sitter

from service.formats.syntax.shell.script import Command, Value
from service.formats.syntax.shell.tree import ShellRefusal, Tree
from service.formats.syntax.words import Hole, HoleKind, Holes, Word
from service.job.diagnostics import Diagnostic, Severity

_STEPS = 80_000
_READING = 8
_CHARACTERS = 4 * 1024 * 1024
_DEEPEST = 60
_LONGEST_NUMBER = 9

_OWN_PATH = frozenset({"0", "BASH_SOURCE"})
_PROCESS = frozenset({"?", "$", "!", "-", "_", "RANDOM", "SECONDS", "PWD", "HOSTNAME", "UID", "PPID"})


@dataclass(slots=True)
class Budget:
    """What one import may still spend: tree nodes looked at, characters made, levels of nesting."""

    steps: int = _STEPS
    characters: int = _CHARACTERS
    depth: int = 0

    def read(self, text: str) -> None:
        """Spends what reading one more text may cost: hostile text costs its parser more than its length."""
        self.grow(_READING * len(text))

    def step(self, count: int = 1) -> None:
        """Spends steps. Raises ShellRefusal when none are left."""
        self.steps -= count
        if self.steps < 0:
            raise ShellRefusal("too_large", f"reading the script takes more than {_STEPS} steps")

    def grow(self, characters: int) -> None:
        """Spends characters before they are made. Raises ShellRefusal when none are left."""
        self.characters -= characters + 1
        if self.characters < 0:
            raise ShellRefusal("too_large", f"the script's variables expand to more than {_CHARACTERS} characters")

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level of nesting. Raises ShellRefusal beyond the bound."""
        self.depth += 1
        try:
            if self.depth > _DEEPEST:
                raise ShellRefusal("too_deep", f"statements are nested more than {_DEEPEST} deep")
            yield
        finally:
            self.depth -= 1


@dataclass(slots=True)
class State:
    """All that changes while a script is read."""

    variables: dict[str, Value]
    positional: list[Word]
    files: Mapping[str, str]
    holes: Holes = field(default_factory=Holes)
    budget: Budget = field(default_factory=Budget)
    optional: set[str] = field(default_factory=set)
    functions: dict[str, tuple[Tree, tree_sitter.Node]] = field(default_factory=dict)
    commands: list[Command] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    wrappers: tuple[Word, ...] = ()
    missing_files: dict[str, str] = field(default_factory=dict)
    heredocs: dict[str, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def lookup(self, name: str) -> Value | None:
        """The value behind a name, special parameters included; None when it is not set."""
        if name in {"@", "*"}:
            return tuple(self.positional)
        if name.isdecimal() and (number := int(name[:_LONGEST_NUMBER])):
            return self.positional[number - 1] if number <= len(self.positional) else None
        known = str(len(self.positional)) if name == "#" else self.holes.variable(name)
        if known is None and name in _OWN_PATH:
            known = self.hole(name, "inert", "is the script's own path")
        if known is None and name in _PROCESS and name not in self.variables:
            known = self.hole(name, "inert", "is known only while the script runs")
        if known is None and name in self.optional and name not in self.variables:
            known = ""
        return self.variables.get(name) if known is None else Word(known)

    def scalar(self, name: str) -> Word | None:
        """The value as one word: an array's first element, as `$A` means; None when it is not set."""
        return first(self.lookup(name))

    def assign(self, name: str, value: Value) -> None:
        """Sets a variable."""
        self.variables[name] = value

    def hole(self, name: str, kind: HoleKind, reason: str, where: str = "") -> str:
        """The marker of a new hole."""
        return self.holes.mark(Hole(name, kind, reason, where))

    def unset(self, name: str, where: str) -> str:
        """The marker for a variable or positional parameter without a value."""
        if name.isdecimal():
            return self.hole(name, "positional", f"${name} is an argument of the script; pass it in argv", where)
        return self.hole(name, "unset", f"{name} is read from the environment and not given", where)

    def note(self, code: str, severity: Severity, message: str, found: str = "") -> None:
        """Adds a diagnostic, each text once."""
        diagnostic = Diagnostic(code, severity, message, found=found)
        if diagnostic not in self.diagnostics:
            self.diagnostics.append(diagnostic)


def first(value: Value | None) -> Word | None:
    """A value as one word: a scalar itself, an array's first element; None for nothing."""
    if value is None or isinstance(value, Word):
        return value
    if isinstance(value, Mapping):
        return value.get("0")
    return value[0] if value else None


def elements(value: Value | None) -> tuple[Word, ...]:
    """A value as an array's elements."""
    if value is None:
        return ()
    if isinstance(value, Word):
        return (value,)
    return tuple(value.values()) if isinstance(value, Mapping) else value
