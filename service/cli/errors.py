"""How a command ends when it cannot do what was asked."""

from collections.abc import Sequence

FAILED = 1
USAGE = 2


class CommandError(Exception):
    """The command cannot go on; the message is one clear line, or one for each problem."""

    def __init__(self, message: str, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def joined(lines: Sequence[str]) -> str:
    """Return the message for some problems: one line for one, a heading and a line each for more."""
    if len(lines) == 1:
        return lines[0]
    return "\n  ".join([f"{len(lines)} problems", *lines])
