"""The interval of a job's prediction: which measured runs the job is most like, and what they say."""

from service.calibration.interval import Band, Interval, band, interval
from service.calibration.residuals import group_of
from service.job.resolve import Resolved
from service.job.schema import Job


def interval_around(resolved: Resolved, predicted_bytes: int) -> Interval:
    """The interval around predicted bytes of a job."""
    return interval_of(resolved.job, predicted_bytes)


def interval_of(job: Job, predicted_bytes: int) -> Interval:
    """The interval around predicted bytes of a job whose defaults are written out."""
    return interval(_group(job), predicted_bytes)


def band_of(job: Job) -> Band:
    """The factors that make such intervals, for many predictions at once."""
    return band(_group(job))


def _group(job: Job) -> str:
    return group_of(job.framework.name, job.kernels.attention or "auto")
