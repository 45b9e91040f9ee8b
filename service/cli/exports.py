"""`memplan export FILE`: a job in a framework's own form, or only what a change to it means there."""

import argparse
import sys
from urllib.parse import quote

from service.cli.files import changes_by, given_by, refusal
from service.cli.server import remote
from service.formats.writers.export import Cluster
from service.usecases.errors import RejectedQuestion
from service.usecases.exports import changes_to, export_given


def run(options: argparse.Namespace) -> int:
    """Print the whole job in the form that was asked for, or the lines that --set changes in it."""
    service = remote(options)
    if service is not None:
        path = f"/v1/plans/{quote(options.file, safe='')}/exports/{options.form}"
        _print(options.form, *service.text(path, candidate=options.candidate))
        return 0
    given, changes = given_by(options, options.world_size), changes_by(options, options.world_size)
    cluster = Cluster(options.gpus_per_node, options.device)
    try:
        if options.changes:
            sys.stdout.writelines(f"{each.text}\n" for each in changes_to(given, options.form, cluster, changes))
            return 0
        found = export_given(given, options.form, cluster, changes)
    except RejectedQuestion as error:
        raise refusal(error) from None
    _print(options.form, found.text, ", ".join(found.unsaid))
    return 0


def _print(form: str, text: str, unsaid: str) -> None:
    sys.stdout.write(text)
    if unsaid:
        said = ", ".join(each.strip("/").replace("/", ".") for each in unsaid.split(", "))
        sys.stderr.write(f"memplan: {form} has no words for {said}\n")
