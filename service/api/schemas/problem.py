"""The body of every error: a problem as in RFC 9457, with all that is wrong at once."""

from typing import Literal

from pydantic import Field

from service.api.schemas.base import Answer


class Missing(Answer):
    """A fact that the config does not state and nothing implies."""

    fact: str = Field(examples=["world_size"])
    """Last part of the job's field, or the file or variable that is needed."""
    message: str = Field(examples=["NNODES is read from the environment; pass env.NNODES or world_size"])
    """What is needed and how to give it."""


class Fault(Answer):
    """One thing that is wrong with the request."""

    location: Literal["body", "query", "path", "header"] = Field("body", examples=["body"])
    """Part of the request that the pointer is about."""
    pointer: str = Field(examples=["/job/parallelism/tensor"])
    """JSON Pointer (RFC 6901) into that part; empty for the whole of it."""
    code: str = Field(examples=["unknown_key"])
    """Stable name of the rule that is broken."""
    message: str = Field(examples=["`tensr` is not a known key here"])
    """What is wrong, for people."""
    fix: str = Field(examples=["did you mean `tensor`?"])
    """What would be right."""
    fields: list[str] | None = Field(None, examples=[["/parallelism/tensor", "/model/num_attention_heads"]])
    """Rules of a framework: JSON Pointers into the canonical job of all fields that the rule is about."""
    found: str | None = Field(None, examples=["tensor 7, num_attention_heads 32"])
    """Rules of a framework: what was found."""
    rule: str | None = Field(None, examples=["num_attention_heads must be a multiple of tensor"])
    """Rules of a framework: the rule."""
    fixes: list[str] | None = Field(None, examples=[["parallelism.tensor = 8"]])
    """Rules of a framework: changes that would satisfy the rule."""


class Problem(Answer):
    """An error, as `application/problem+json` (RFC 9457)."""

    type: str = Field(examples=["/docs/errors#invalid_request"])
    """Where this kind of problem is explained, relative to this service."""
    title: str = Field(examples=["The request does not have the documented form"])
    """The kind of problem, for people; the same for every occurrence."""
    status: int = Field(examples=[422])
    """HTTP status, repeated here for those who see the body only."""
    detail: str = Field(examples=["job.parallelism.tensr: `tensr` is not a known key here"])
    """This occurrence, for people."""
    instance: str = Field(examples=["/v1/estimates"])
    """Path of the request."""
    code: str = Field(examples=["invalid_request"])
    """Stable name of the kind of problem, for programs."""
    request_id: str = Field(examples=["5f0c954c2d6b4c0c8d8a6c2f3d1b7e90"])
    """Id of this request, as in the header X-Request-Id and in the service's log."""
    errors: list[Fault] = Field(default_factory=list)
    """Everything that is wrong with the request, not only the first thing."""
    missing: list[Missing] | None = None
    """Facts that an incomplete job does not state."""
