"""LLaMA-Factory's YAML."""

from service.formats.dialect import Dialect
from service.formats.llamafactory.importer import read, recognise

DIALECT = Dialect("llamafactory", recognise, read)

__all__ = ["DIALECT"]
