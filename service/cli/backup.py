"""`memplan db backup FILE`: a copy of a SQLite database, while it is served."""

import argparse
import sys

from service.cli.configuration import settings_of
from service.cli.errors import CommandError
from service.store.backup import backup
from service.store.errors import StoreError


def run(options: argparse.Namespace) -> int:
    """Copy the database as of one moment into a new file."""
    try:
        backup(settings_of(), options.file)
    except StoreError as error:
        raise CommandError(str(error)) from None
    sys.stdout.write(f"the database is copied to {options.file}, {options.file.stat().st_size:,} bytes\n")
    return 0
