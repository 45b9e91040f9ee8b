"""Which release of memplan this is."""

from importlib.metadata import version

RELEASE = version("memplan")
