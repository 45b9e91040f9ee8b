"""The command `memplan`: the service's use cases on files, without HTTP.

Each command is a module that is imported when it is asked for, so that an estimate waits for no web framework.
"""

import sys
from collections.abc import Sequence
from importlib import import_module

from service.cli.errors import CommandError
from service.cli.parser import build_parser

__all__ = ["build_parser", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 not possible, 2 wrongly asked."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # argparse would take what follows -- for arguments of its own.
    own = words.index("--") if "--" in words else len(words)
    options = build_parser().parse_args(words[:own])
    options.argv = words[own + 1 :]
    try:
        code: int = import_module(options.module).run(options)
    except CommandError as error:
        sys.stderr.write(f"memplan: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return code
