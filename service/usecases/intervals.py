"""The interval of a job's prediction: which measured runs the job is most like, and what they say."""

from service.calibration.interval import Band, Interval, band, interval
from service.calibration.residuals import Kind, Likeness
from service.catalog.profiles import profile_of
from service.job.resolve import Resolved
from service.job.schema import Job


def interval_around(resolved: Resolved, predicted_bytes: int, kind: Kind = "device") -> Interval:
    """The interval around predicted bytes of a job."""
    return interval_of(resolved.job, predicted_bytes, kind)


def interval_of(job: Job, predicted_bytes: int, kind: Kind = "device") -> Interval:
    """The interval around predicted bytes of a job whose defaults are written out."""
    return interval(likeness_of(job, kind), predicted_bytes)


def band_of(job: Job, kind: Kind = "device") -> Band:
    """What makes such intervals, for many predictions at once."""
    return band(likeness_of(job, kind))


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
