"""torchtune's YAML."""

from service.formats.dialect import Dialect
from service.formats.torchtune.importer import read, recognise

DIALECT = Dialect("torchtune", recognise, read)

__all__ = ["DIALECT"]
