"""`memplan completion SHELL`: a script that completes commands, options, files and devices."""

import argparse
import sys
from collections.abc import Iterator

import shtab

from service.catalog.devices import built_in
from service.cli.parser import build_parser


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    parser = build_parser()
    devices = sorted(each.id for each in built_in())
    for action in _actions(parser):
        if action.dest in {"file", "files", "beside"}:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab looks for it there
        elif action.dest == "device":
            action.choices = devices
    sys.stdout.write(shtab.complete(parser, options.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to walk a parser
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - the same
            for each in action.choices.values():
                yield from _actions(each)
