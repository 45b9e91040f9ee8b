"""A text to its words, by the quoting rules of the shell alone: nothing is expanded."""

import re

_WORD = re.compile(
    r"""(?P<word>(?:[^\s"'\\#]|(?<=\S)\#|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)|(?P<comment>\#[^\n]*)|\s+|(?P<open>.)""",
    re.DOTALL,
)
_QUOTED = re.compile(r"""\\\n|\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'""", re.DOTALL)
_IN_QUOTES = re.compile(r'\\([\\"$`\n])')


def split_words(text: str) -> list[str]:
    """The words of a text; `#` at the start of one begins a comment.

    Raises ValueError for a quotation that is not closed.
    """
    found: list[str] = []
    for matched in _WORD.finditer(text.replace("\\\n", " ")):
        if matched.lastgroup == "open":
            raise ValueError(f"no closing quotation behind {text[matched.start() : matched.start() + 20]!r}")
        if matched.lastgroup == "word":
            found.append(_unquoted(matched.group()))
    return found


def _unquoted(word: str) -> str:
    return _QUOTED.sub(_inside, word) if "'" in word or '"' in word or "\\" in word else word


def _inside(matched: re.Match[str]) -> str:
    escaped, double, single = matched.groups()
    if double is not None:
        return _IN_QUOTES.sub(lambda each: "" if each.group(1) == "\n" else each.group(1), double)
    return single if single is not None else escaped or ""
