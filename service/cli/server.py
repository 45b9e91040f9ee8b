"""Where a command is answered: here, or by the service that --server names."""

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from service.cli.remote import Remote


def remote(options: argparse.Namespace) -> "Remote | None":
    """Return the service that the options name, or None: the answer is made here, which needs no HTTP."""
    if options.server is None:
        return None
    found: Remote = import_module("service.cli.remote").connect(options)
    return found


def print_json(answer: BaseModel) -> None:
    """Print an answer as the HTTP interface gives it."""
    print(answer.model_dump_json(by_alias=True, indent=2))
