"""Client of memplan, the service that plans GPU memory for distributed training.

`Client` and `AsyncClient` have a method for each thing that the service does; answers are the classes of
`memplan_client.models`, and every error is a `MemplanError`.
"""

from memplan_client import errors
from memplan_client.aio import AsyncClient
from memplan_client.client import Client
from memplan_client.errors import MemplanError, ProblemError
from memplan_client.generated import models
from memplan_client.questions import Measured, Run, Source, Target
from memplan_client.retries import Retries

__all__ = [
    "AsyncClient",
    "Client",
    "Measured",
    "MemplanError",
    "ProblemError",
    "Retries",
    "Run",
    "Source",
    "Target",
    "errors",
    "models",
]
