"""`memplan export FILE`: a job in a framework's own form, or only what a change to it means there."""

import argparse
import sys

from service.cli.files import changes_by, given_by, refusal
from service.formats.writers.export import Cluster
from service.usecases.errors import RejectedQuestion
from service.usecases.exports import changes_to, export_given


def run(options: argparse.Namespace) -> int:
    """Print the whole job in the form that was asked for, or the lines that --set changes in it."""
    given, changes = given_by(options, options.world_size), changes_by(options, options.world_size)
    cluster = Cluster(options.gpus_per_node, options.device)
    try:
        if options.changes:
            sys.stdout.writelines(f"{each.text}\n" for each in changes_to(given, options.form, cluster, changes))
            return 0
        found = export_given(given, options.form, cluster, changes)
    except RejectedQuestion as error:
        raise refusal(error) from None
    sys.stdout.write(found.text)
    if found.unsaid:
        said = ", ".join(each.strip("/").replace("/", ".") for each in found.unsaid)
        sys.stderr.write(f"memplan: {options.form} has no words for {said}\n")
    return 0
