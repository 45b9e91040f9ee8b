"""`memplan token`: make, list and revoke the tokens of the HTTP service, in its database."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.table import Table

from service import logs
from service.cli.configuration import settings_of
from service.cli.errors import CommandError
from service.cli.tables import console
from service.settings import Settings
from service.store.errors import NotFound, StoreError
from service.store.migration import State, ensure_usable, state
from service.store.session import Store
from service.store.single_process import sole_process
from service.store.tokens import StoredToken
from service.usecases.tokens import FRESH, AmbiguousName, issue, list_tokens, revoke_token


def run(options: argparse.Namespace) -> int:
    """Do what was asked with tokens; a service may run on the same database meanwhile."""
    actions = {"create": _create, "list": _list, "revoke": _revoke}
    try:
        with _opened() as store:
            actions[options.action](store, options)
    except StoreError as error:
        raise CommandError(str(error)) from None
    return 0


@contextmanager
def _opened() -> Iterator[Store]:
    settings = settings_of()
    # Alembic says at INFO what it looks at, which here would stand beside the answer.
    logs.configure("WARNING", settings.log_format)
    _prepare(settings)
    with Store(settings) as store:
        yield store


def _prepare(settings: Settings) -> None:
    if state(settings) is State.MISSING:
        with sole_process(settings):
            ensure_usable(settings)
    else:
        ensure_usable(settings)


def _create(store: Store, options: argparse.Namespace) -> None:
    lifetime = None if options.expires is None else timedelta(seconds=options.expires)
    issued = issue(store, options.name, options.scope, lifetime)
    if options.json:
        _print({**_shown(issued.token), "token": issued.secret})
        return
    print(issued.secret)
    until = "until it is revoked" if issued.token.expires_at is None else f"until {_moment(issued.token.expires_at)}"
    sys.stderr.write(
        f"{issued.token.id}, {options.name}: {', '.join(issued.token.scopes)}, {until}. "
        "The token is shown this once; only its digest is stored.\n"
    )


def _list(store: Store, options: argparse.Namespace) -> None:
    found = list_tokens(store)
    if options.json:
        _print([_shown(each) for each in found])
        return
    table = Table(box=None, pad_edge=False)
    for head in ("id", "name", "begins with", "scopes", "state", "created", "expires", "last used"):
        table.add_column(head, no_wrap=head == "id", overflow="fold")
    for each in found:
        moments = (each.created_at, each.expires_at, each.last_used_at)
        table.add_row(
            each.id,
            each.name,
            each.hint,
            " ".join(each.scopes),
            _state(each),
            *("-" if m is None else _moment(m) for m in moments),
        )
    console().print(table if found else "there are no tokens")


def _revoke(store: Store, options: argparse.Namespace) -> None:
    try:
        ended = revoke_token(store, options.token)
    except NotFound:
        raise CommandError(f"no token {options.token}; memplan token list shows them") from None
    except AmbiguousName as error:
        raise CommandError(str(error)) from None
    if options.json:
        _print(_shown(ended))
        return
    print(
        f"{ended.id}, {ended.name}: revoked; a service that knows it takes it for {FRESH.seconds} seconds more at most"
    )


def _shown(token: StoredToken) -> dict[str, Any]:
    moments = ("created_at", "expires_at", "last_used_at", "revoked_at")
    return {
        "id": token.id,
        "name": token.name,
        "hint": token.hint,
        "scopes": list(token.scopes),
        "state": _state(token),
        **{name: None if getattr(token, name) is None else getattr(token, name).isoformat() for name in moments},
    }


def _state(token: StoredToken) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "valid" if token.is_valid(datetime.now(UTC)) else "expired"


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}Z"


def _print(document: Any) -> None:
    print(json.dumps(document, indent=2))
