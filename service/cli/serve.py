"""`memplan serve`: the HTTP service on this machine."""

import argparse
import gc
import logging
import socket
import sys

import uvicorn

from service import logs
from service.api.app import create_app
from service.api.lanes import SWITCH_SECONDS
from service.cli.configuration import settings_of
from service.cli.errors import CommandError
from service.settings import Settings
from service.store.errors import StoreError
from service.store.migration import ensure_usable
from service.store.session import Store
from service.store.single_process import sole_process
from service.usecases.tokens import has_valid_token

GRACE_SECONDS = 5
"""How long requests may go on when the service is told to stop; supervisors commonly kill it after ten."""


def run(options: argparse.Namespace) -> int:
    """Serve until stopped; a missing database is created, one of another release is refused."""
    settings = settings_of(host=options.host, port=options.port, access=options.access)
    logs.configure(settings.log_level, settings.log_format)
    # At INFO it says at each start which kind of database it looks at.
    logging.getLogger("alembic").setLevel(logging.WARNING)
    try:
        with sole_process(settings):
            # The application looks again when it starts, but would say it in a traceback.
            ensure_usable(settings)
            _refuse_if_nobody_could_ask(settings)
            _refuse_a_taken_port(settings)
            app = create_app(settings)
            sys.setswitchinterval(SWITCH_SECONDS)
            # What is there by now stays: looking through it again and again would halt every answer for 0.1 s.
            gc.collect()
            gc.freeze()
            uvicorn.run(
                app,
                host=settings.host,
                port=settings.port,
                log_config=None,
                access_log=False,
                # An event stream lasts as long as its operation; without a limit a stop would wait for its end.
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
    except StoreError as error:
        raise CommandError(str(error)) from None
    return 0


def _refuse_a_taken_port(settings: Settings) -> None:
    """Say in one line what uvicorn says between those of its start. Raises CommandError."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[
            0
        ]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        said = error.strerror or str(error)
        raise CommandError(
            f"cannot listen on {settings.host} port {settings.port}: {said}; --host and --port name another"
        ) from None


def _refuse_if_nobody_could_ask(settings: Settings) -> None:
    if not settings.needs_tokens:
        return
    with Store(settings) as store:
        if has_valid_token(store):
            return
    raise CommandError(
        f"to serve on {settings.host} a token is needed, and there is none: make one with memplan token create NAME "
        "--scope SCOPE; or let everybody ask with --open (MEMPLAN_ACCESS=open)"
    )
