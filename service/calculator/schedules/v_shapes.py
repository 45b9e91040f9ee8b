"""Peaks of the schedules whose ranks hold two chunks in a V: an early one on the way down, a late one on the way up.

Rank r holds stages r and 2p-1-r, so the first rank has both the embedding and the head. `dualpipe` folds two pipelines
of p stages, fed from both ends, over the same ranks: rank r holds stages r and p-1-r, and the early chunk is the one
nearer to its feeding end. Source: memory_model.md 5 and appendix B.
"""

from service.calculator.schedules.schedule import Schedule
from service.calculator.units import Int, minimum

V_SHAPED = frozenset({"zbv", "v_half", "v_min", "dualpipe", "dualpipev"})


def peak_of_v(schedule: Schedule, stage: Int) -> tuple[Int, Int]:
    """Micro-batches alive at the peak of pipeline rank `stage`: of the early chunk, of the late chunk."""
    early, late = _limits(schedule, stage)
    available = _per_direction(schedule)
    return minimum(early, available), minimum(late, available)


def distinct_of_v(schedule: Schedule, stage: Int) -> Int:
    """Most micro-batches of which rank `stage` holds anything at one time: the early chunk holds them longest."""
    early, late = peak_of_v(schedule, stage)
    if schedule.name == "dualpipe":
        return early + late
    if schedule.name == "zbv":
        # The early chunk gains its last micro-batch only when the late chunk has returned one.
        return minimum(2 * schedule.pipeline - stage, schedule.micro_batches)
    return early


def near_end(pipeline: int, stage: Int) -> Int:
    """Ranks between this one and the nearer end of the pipeline."""
    return minimum(stage, pipeline - 1 - stage)


def _per_direction(schedule: Schedule) -> Int:
    return schedule.micro_batches // 2 if schedule.name == "dualpipe" else schedule.micro_batches


def _limits(schedule: Schedule, stage: Int) -> tuple[Int, Int]:
    """Both chunks' counts when micro-batches abound."""
    p = schedule.pipeline
    match schedule.name:
        case "zbv":
            return 2 * p - 1 - stage, stage + 1
        case "dualpipev":
            return 2 * p - stage, stage + 1
        case "dualpipe":
            near = near_end(p, stage)
            return p - near, near + 1
        case "v_half":
            late = (stage + 1 - p % 2) // 2 + 1
            return 2 * ((p + 2) // 2) - late, late
        case "v_min":
            late = (stage + (1 if p % 3 == 1 else 2)) // 3 + 1
            return 2 * ((p + 4) // 3) - late, late
        case _:
            raise ValueError(f"{schedule.name} is not a V-shaped schedule")
