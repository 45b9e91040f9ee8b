"""`memplan db purge`: forget what is older than the settings keep it, without waiting for a service to do so."""

import argparse
import sys

from service import logs
from service.cli.configuration import settings_of
from service.cli.errors import CommandError
from service.store.errors import StoreError
from service.store.migration import ensure_usable
from service.store.session import Store
from service.store.single_process import sole_process
from service.usecases.retention import purge, retention_of


def run(_options: argparse.Namespace) -> int:
    """Forget it all at once; a SQLite file must not be served meanwhile."""
    settings = settings_of()
    logs.configure(settings.log_level, settings.log_format)
    try:
        with sole_process(settings):
            ensure_usable(settings)
            with Store(settings) as store:
                found = purge(store, retention_of(settings))
    except StoreError as error:
        raise CommandError(str(error)) from None
    forgotten = ", ".join(f"{count:,} {kind}s" for kind, count in sorted(found.items()))
    sys.stdout.write(f"forgotten: {forgotten or 'nothing'}\n")
    return 0
