"""The interval of a job's prediction: which measured runs the job is most like, and what they say."""

from service.calibration.evidence import NO_EVIDENCE, Evidence, Fitted
from service.calibration.interval import Band, Interval, interval_by
from service.calibration.observed import Group
from service.calibration.residuals import Kind, Likeness
from service.catalog.profiles import profile_of
from service.job.resolve import Resolved
from service.job.schema import Job


def interval_around(resolved: Resolved, predicted_bytes: int, kind: Kind = "device") -> Interval:
    """The interval around predicted bytes of a job, by what is shipped alone."""
    return interval_by(NO_EVIDENCE.band(likeness_of(resolved.job, kind), ""), predicted_bytes)


def band_of(job: Job, device: str, evidence: Evidence) -> Band:
    """What makes the intervals around device bytes of a job whose defaults are written out, on a device."""
    return evidence.band(likeness_of(job, "device"), device)


def fitted_of(job: Job, device: str, gpus_per_node: int, evidence: Evidence) -> Fitted | None:
    """What timed steps say of a job whose defaults are written out, on a cluster; None where too few were timed."""
    return evidence.fitted(group_of(job, device), gpus_per_node)


def group_of(job: Job, device: str) -> Group:
    """The group of observed runs of a job whose defaults are written out, on a device."""
    likeness = likeness_of(job, "device")
    return Group(likeness.framework, likeness.implementation, device)


def likeness_of(job: Job, kind: Kind) -> Likeness:
    """What a job whose defaults are written out shares with the measured runs."""
    framework = job.framework
    profile = profile_of(framework.name, framework.transformer_impl, framework.version)
    own = framework.version is not None and profile.covers(framework.version)
    return Likeness(
        framework=profile.keeps,
        implementation=framework.transformer_impl or profile.transformer_impl,
        version="own" if own else "other",
        attention="automatic" if job.kernels.attention in (None, "auto") else "stated",
        kind=kind,
    )
