"""torchtitan: TOML files of its first generation, and the command line with a config function of its second."""

from service.formats.dialect import Dialect
from service.formats.torchtitan.importer import read, recognise

DIALECT = Dialect("torchtitan", recognise, read)

__all__ = ["DIALECT"]
