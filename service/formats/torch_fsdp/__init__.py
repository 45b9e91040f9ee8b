"""The flags of AWS's FSDP training script, which many clusters' examples start."""

from service.formats.dialect import Dialect
from service.formats.torch_fsdp.importer import read, recognise

DIALECT = Dialect("torch_fsdp", recognise, read)

__all__ = ["DIALECT"]
