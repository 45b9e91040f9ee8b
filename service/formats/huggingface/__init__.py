"""Hugging Face `config.json`: the model, and what its class implies; never the training setup."""

from service.formats.dialect import Dialect
from service.formats.huggingface.importer import read, recognise

DIALECT = Dialect("huggingface", recognise, read)

__all__ = ["DIALECT"]
