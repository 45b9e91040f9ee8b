"""axolotl's YAML."""

from service.formats.axolotl.importer import read, recognise
from service.formats.dialect import Dialect

DIALECT = Dialect("axolotl", recognise, read)

__all__ = ["DIALECT"]
