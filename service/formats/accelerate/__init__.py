"""accelerate's config file: processes, precision, FSDP 1 and 2, DeepSpeed, ParallelismConfig."""

from service.formats.accelerate.importer import read, recognise
from service.formats.dialect import Dialect

DIALECT = Dialect("accelerate", recognise, read)

__all__ = ["DIALECT"]
