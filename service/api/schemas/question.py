"""Questions about a job: the job itself, or a config that a job is read from, told apart by which key is there."""

from typing import Any

from pydantic import Discriminator

# The tags are in the locations of pydantic's errors, so they must not be keys of a body.
WITH_JOB = "question with job"
WITH_SOURCE = "question with source"

EXACTLY_ONE = "should have exactly one of the keys `job` and `source`"


def _form(body: Any) -> str | None:
    keys = body.keys() if isinstance(body, dict) else type(body).model_fields.keys()
    has = ("job" in keys, "source" in keys)
    return {(True, False): WITH_JOB, (False, True): WITH_SOURCE}.get(has)


JOB_OR_SOURCE = Discriminator(_form, custom_error_type="job_or_source", custom_error_message=EXACTLY_ONE)
