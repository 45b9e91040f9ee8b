"""`memplan db upgrade`: create the database, or bring it up to date."""

import argparse
import sys

from service import logs
from service.cli.configuration import settings_of
from service.cli.errors import CommandError
from service.store.errors import StoreError
from service.store.migration import head_revision, upgrade
from service.store.single_process import sole_process


def run(_options: argparse.Namespace) -> int:
    """Bring the database to this release's schema; a SQLite file must not be served meanwhile."""
    settings = settings_of()
    logs.configure(settings.log_level, settings.log_format)
    try:
        with sole_process(settings):
            upgrade(settings)
    except StoreError as error:
        raise CommandError(str(error)) from None
    sys.stdout.write(f"the database is at revision {head_revision()}\n")
    return 0
