"""Questions about a job: the job itself, or a config that a job is read from, told apart by which key is there."""

from typing import Any

from pydantic import Discriminator, Field

# The tags are in the locations of pydantic's errors, so they must not be keys of a body.
WITH_JOB = "question with job"
WITH_SOURCE = "question with source"

USE_OBSERVATIONS = Field(True, strict=True, examples=[True])

EXACTLY_ONE = "should have exactly one of the keys `job` and `source`"


def _form(body: Any) -> str | None:
    if not isinstance(body, dict) or ("job" in body) == ("source" in body):
        return None
    return WITH_JOB if "job" in body else WITH_SOURCE


JOB_OR_SOURCE = Discriminator(_form, custom_error_type="job_or_source", custom_error_message=EXACTLY_ONE)
