"""The interval of a job's prediction: which measured runs the job is most like, and what they say."""

from service.calibration.interval import Interval, interval
from service.calibration.residuals import group_of
from service.job.resolve import Resolved


def interval_around(resolved: Resolved, predicted_bytes: int) -> Interval:
    """The interval around predicted bytes of a job."""
    return interval(group_of(resolved.job.framework.name, resolved.job.kernels.attention or "auto"), predicted_bytes)
