"""DeepSpeed's JSON config, with the trainer's arguments where `auto` leaves values to them."""

from service.formats.deepspeed.importer import read, recognise
from service.formats.dialect import Dialect

DIALECT = Dialect("deepspeed", recognise, read)

__all__ = ["DIALECT"]
