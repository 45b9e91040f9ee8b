"""How a command ends when it cannot do what was asked."""

FAILED = 1
USAGE = 2


class CommandError(Exception):
    """The command cannot go on; the message is one clear line, or one for each problem."""

    def __init__(self, message: str, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code
