"""`memplan serve`: the HTTP service on this machine."""

import argparse

import uvicorn

from service import logs
from service.api.app import create_app
from service.cli.configuration import settings_of
from service.cli.errors import CommandError
from service.store.errors import StoreError
from service.store.migration import ensure_usable
from service.store.single_process import sole_process


def run(options: argparse.Namespace) -> int:
    """Serve until stopped; a missing database is created, one of another release is refused."""
    settings = settings_of(host=options.host, port=options.port)
    logs.configure(settings.log_level, settings.log_format)
    try:
        with sole_process(settings):
            # The application looks again when it starts, but would say it in a traceback.
            ensure_usable(settings)
            uvicorn.run(create_app(settings), host=settings.host, port=settings.port, log_config=None, access_log=False)
    except StoreError as error:
        raise CommandError(str(error)) from None
    return 0
