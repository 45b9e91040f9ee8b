"""Settings and logs of the commands that use the database."""

from typing import Any

from pydantic import ValidationError

from service.cli.errors import USAGE, CommandError
from service.settings import Settings


def settings_of(**given: Any) -> Settings:
    """Return the settings of the environment, with what the command line gives on top. Raises CommandError."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        found = "; ".join(f"MEMPLAN_{str(each['loc'][0]).upper()}: {each['msg']}" for each in error.errors())
        raise CommandError(found, USAGE) from None
