"""Megatron-LM and Megatron-DeepSpeed: launch scripts, argument lists, argument dumps, YAML files of arguments."""

from service.formats.dialect import Dialect
from service.formats.megatron.importer import read, recognise

DIALECT = Dialect("megatron", recognise, read, reads_scripts=True)

__all__ = ["DIALECT"]
