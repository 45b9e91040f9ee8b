"""nanotron's YAML."""

from service.formats.dialect import Dialect
from service.formats.nanotron.importer import read, recognise

DIALECT = Dialect("nanotron", recognise, read)

__all__ = ["DIALECT"]
