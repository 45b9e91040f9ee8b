"""What a call can raise: every class is a `MemplanError`, and every code of a problem has a class of its own."""

from memplan_client.codes import *  # noqa: F403 - the classes of this module are those two lists
from memplan_client.failures import *  # noqa: F403
