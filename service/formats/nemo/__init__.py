"""NeMo: the launcher's YAML, Megatron-Bridge's YAML, and overrides of either on a command line."""

from service.formats.dialect import Dialect
from service.formats.nemo.importer import read, recognise

DIALECT = Dialect("nemo", recognise, read)

__all__ = ["DIALECT"]
