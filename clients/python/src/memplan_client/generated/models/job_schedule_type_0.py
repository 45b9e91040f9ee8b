from typing import Literal

JobScheduleType0 = Literal[
    "1f1b",
    "dualpipe",
    "dualpipev",
    "gpipe",
    "interleaved",
    "interleaved_zb",
    "looped_bfs",
    "v_half",
    "v_min",
    "zb_h1",
    "zb_h2",
    "zbv",
]

JOB_SCHEDULE_TYPE_0_VALUES: set[JobScheduleType0] = {
    "1f1b",
    "dualpipe",
    "dualpipev",
    "gpipe",
    "interleaved",
    "interleaved_zb",
    "looped_bfs",
    "v_half",
    "v_min",
    "zb_h1",
    "zb_h2",
    "zbv",
}


def check_job_schedule_type_0(value: str) -> JobScheduleType0:
    if value in JOB_SCHEDULE_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {JOB_SCHEDULE_TYPE_0_VALUES!r}"
    )
