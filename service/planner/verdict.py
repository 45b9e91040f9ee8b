"""Whether a peak fits a GPU: the three verdicts, for one estimate and for many, and the sentence that explains one."""

from typing import Final, Literal

from service.calculator.device import Accelerator
from service.calculator.units import GIB, Int, where

Verdict = Literal["fits", "tight", "does_not_fit"]
VERDICTS: Final[tuple[Verdict, ...]] = ("fits", "tight", "does_not_fit")
"""In order of preference; a code is the place in this order."""

DOES_NOT_FIT = VERDICTS.index("does_not_fit")

SAFE_PERCENT = 88
"""Share of the memory that the driver shows beyond which measured runs were 5 to 8 times slower (nanotron sweep)."""


def verdict_codes(device_bytes: Int, high_bytes: Int, accelerator: Accelerator) -> Int:
    """Codes of `VERDICTS`: the estimate, and the upper end of its interval, against what a process can use.

    Tight is a peak that fits while its upper end does not, or one above `SAFE_PERCENT` of the driver's total.
    """
    usable = accelerator.usable_bytes
    risky = (high_bytes > usable) | (device_bytes * 100 > accelerator.total_bytes * SAFE_PERCENT)
    return where(device_bytes > usable, DOES_NOT_FIT, where(risky, 1, 0))


def judge(device_bytes: int, high_bytes: int, accelerator: Accelerator) -> Verdict:
    """The verdict on one peak (bytes)."""
    return VERDICTS[int(verdict_codes(device_bytes, high_bytes, accelerator))]


def reason(stage: int, device_bytes: int, high_bytes: int, accelerator: Accelerator) -> str:
    """One sentence of at most 120 characters that says why the verdict is what it is."""
    usable = accelerator.usable_bytes
    verdict = judge(device_bytes, high_bytes, accelerator)
    peak = f"stage {stage} peaks at {_gib(device_bytes)} of {_gib(usable)} GiB usable"
    if verdict == "does_not_fit":
        short = _gib(device_bytes - usable)
        return f"stage {stage} needs {_gib(device_bytes)} GiB, usable {_gib(usable)} GiB; short by {short} GiB"
    if verdict == "fits":
        return peak
    if high_bytes > usable:
        return f"{peak}; the upper end of the estimate is {_gib(high_bytes)} GiB"
    return f"{peak}: above {SAFE_PERCENT} % of the GPU, where runs slow down"


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / GIB:.1f}"
