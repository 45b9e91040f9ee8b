"""Hydra overrides on a command line, as verl's launchers have them."""

from service.formats.dialect import Dialect
from service.formats.hydra.importer import read, recognise

DIALECT = Dialect("hydra", recognise, read)

__all__ = ["DIALECT"]
