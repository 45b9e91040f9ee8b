"""Shell text to a syntax tree, within bounds that hold for hostile text too.

Measured on tree-sitter-bash 0.25.1: repeated tokens such as `[]`, `)`, NUL or `<<A` make error recovery quadratic
(50 kB of NUL took 18 s), and nested `${` cost 7 µs a byte. So the text is handed over in pieces, and the parser meets
an early end of text once it has asked for too many; it is stopped once it has worked for too long, which is sooner
when it is recovering from errors; nesting is counted beforehand; longer texts are refused. Ordinary scripts of 1 MB
need less than half of what is allowed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import tree_sitter
import tree_sitter_bash

LARGEST_TEXT = 1024 * 1024
_DEEPEST = 200
_MOST_BRACKETS = 200_000
_PIECE = 256
_FREE_READS = 20_000
_READS_FOR_EACH_PIECE = 8
# The parser reports its progress once in about 100 operations; an ordinary text takes 500 reports for 100 KB.
_MOST_REPORTS = 12_000
_MOST_REPORTS_OF_FAULTS = 4_000
_NO_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))

_OPENING = frozenset(b"([{")
_CONTINUED = re.compile(r"\\$")


class ShellRefusal(ValueError):
    """Text that is too large, too deep or not text; `code` is the diagnostic's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Tree:
    """A syntax tree with the text that it was made from, and the file's name for places (empty for the main text)."""

    root: tree_sitter.Node
    source: bytes
    name: str
    joined: tuple[int, ...]

    def text(self, node: tree_sitter.Node) -> str:
        """The text of one node."""
        return self.span(node.start_byte, node.end_byte)

    def span(self, start: int, end: int) -> str:
        """The text between two byte offsets."""
        return self.source[start:end].decode("utf-8", "replace")

    def where(self, node: tree_sitter.Node) -> str:
        """The line of a node, for people."""
        line = f"line {node.start_point[0] + 1}"
        return f"{self.name} {line}" if self.name else line

    def faulty_lines(self) -> Iterator[int]:
        """Lines that could not be read as shell, in order."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node.is_error or node.is_missing:
                yield node.start_point[0] + 1
            if node.has_error:
                waiting.extend(reversed(node.children))


def parse(text: str, name: str = "") -> Tree:
    """The tree of a shell text. Raises ShellRefusal when the text is beyond the bounds."""
    source = text.replace("\r\n", "\n")
    if "\x00" in source:
        raise ShellRefusal("invalid_text", "the text holds NUL characters; a script is text")
    source, joined = _without_inner_comments(source)
    data = source.encode("utf-8", "replace")
    if len(data) > LARGEST_TEXT:
        raise ShellRefusal("too_large", f"a launch script of more than {LARGEST_TEXT // 1024} KiB is not read")
    if _depth(data) > _DEEPEST:
        raise ShellRefusal("too_deep", f"brackets are nested more than {_DEEPEST} deep")
    return Tree(_bounded_parse(data), data, name, joined)


@cache
def _language() -> tree_sitter.Language:
    return tree_sitter.Language(tree_sitter_bash.language())


def _bounded_parse(data: bytes) -> tree_sitter.Node:
    reads = _FREE_READS + _READS_FOR_EACH_PIECE * (len(data) // _PIECE)
    reports, faults = _MOST_REPORTS, _MOST_REPORTS_OF_FAULTS

    def read(offset: int, _point: object) -> bytes:
        nonlocal reads
        reads -= 1
        return b"" if reads < 0 else data[offset : offset + _PIECE]

    def stop(_offset: int, faulty: bool) -> bool:
        nonlocal reports, faults
        reports -= 1
        faults -= faulty
        return min(reads, reports, faults) < 0

    try:
        tree = tree_sitter.Parser(_language()).parse(read, progress_callback=stop)
    except ValueError:
        tree = None
    if tree is None or reads < 0:
        code, reason = ("syntax", "cannot be read as one") if min(reads, faults) < 0 else ("too_large", "is too dense")
        raise ShellRefusal(code, f"the text is not a shell script: too much of it {reason}")
    return tree.root_node


def _depth(data: bytes) -> int:
    """The deepest nesting of brackets, counting every bracket, closing ones never below zero."""
    deepest = depth = 0
    brackets = data.translate(None, _NO_BRACKETS)
    if len(brackets) > _MOST_BRACKETS:
        raise ShellRefusal("too_large", f"a launch script of more than {_MOST_BRACKETS:,} brackets is not read")
    for byte in brackets:
        if byte in _OPENING:
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth = max(depth - 1, 0)
    return deepest


def _without_inner_comments(text: str) -> tuple[str, tuple[int, ...]]:
    """Takes comment lines out of continued commands, and says which lines they were.

    A shell ends the command at such a comment and loses the flags below it; whoever writes one means the flags to
    count. Line numbers stay as they are.
    """
    if "#" not in text or "\\" not in text:
        return text, ()
    lines = text.split("\n")
    joined: list[int] = []
    index = 0
    while index < len(lines) - 1:
        end = _comments_end(lines, index + 1) if _CONTINUED.search(lines[index]) else index + 1
        if end > index + 1 and _continues(lines, end):
            joined.extend(range(index + 2, end + 1))
            lines[index + 1 : end] = ["\\"] * (end - index - 1)
        index = end
    return "\n".join(lines), tuple(joined)


def _comments_end(lines: list[str], start: int) -> int:
    """Index of the first line from `start` that is no comment."""
    while start < len(lines) and lines[start].lstrip().startswith("#"):
        start += 1
    return start


def _continues(lines: list[str], index: int) -> bool:
    """Whether the line goes on with the command above the comments."""
    if index >= len(lines) or not lines[index].strip():
        return False
    return lines[index].lstrip().startswith("-") or bool(_CONTINUED.search(lines[index - 1]))
