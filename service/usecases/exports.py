"""A stored plan's layout, or any job, in a framework's own form."""

from collections.abc import Mapping
from typing import Any

from service.catalog.devices import Devices
from service.formats.writers.changes import Change
from service.formats.writers.export import Cluster, Exported, ExportFormat, changes_between, export_job
from service.job.resolve import InvalidJob, resolve
from service.job.schema import Job
from service.store.session import Store
from service.usecases.errors import NoSuchCandidate
from service.usecases.imports import Given, accept
from service.usecases.plans import get_plan


def export_candidate(store: Store, plan_id: str, format_: ExportFormat, candidate: int, devices: Devices) -> Exported:
    """Return a candidate of a stored plan in a framework's form. Raises NotFound and NoSuchCandidate."""
    plan = get_plan(store, plan_id)
    found = plan.answer.candidates
    if candidate >= len(found):
        raise NoSuchCandidate(plan_id, candidate, len(found))
    cluster = plan.question["cluster"]
    return export_job(found[candidate].job, format_, Cluster(cluster["gpus_per_node"], cluster["device"], devices))


def export_given(given: Given, format_: ExportFormat, cluster: Cluster, changes: Mapping[str, Any]) -> Exported:
    """Return a job in a framework's form, its defaults written out where nothing is missing. Raises RejectedJob."""
    return export_job(_filled(accept(given, changes).job), format_, cluster)


def changes_to(given: Given, format_: ExportFormat, cluster: Cluster, changes: Mapping[str, Any]) -> list[Change]:
    """Return what to change in a config for some values of its job to become others. Raises RejectedJob."""
    return changes_between(accept(given).job, accept(given, changes).job, format_, cluster)


def _filled(job: Job) -> Job:
    """The job with every default, or as it is when something is missing for that."""
    try:
        return resolve(job).job
    except InvalidJob:
        return job
