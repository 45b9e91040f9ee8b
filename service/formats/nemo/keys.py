"""Keys that NeMo's files have and Megatron's flags do not: the trainer, data, logging, and older names."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files

from service.formats.config.settings import known_keys
from service.formats.megatron.vocabulary import is_known
from service.formats.nemo.translation import own_name


def is_known_key(key: str) -> bool:
    """Whether a key is NeMo's, or a Megatron flag in one of NeMo's sections."""
    name = own_name(key)
    return _known()[0](key) or (name is not None and is_known(name))


def known_names() -> list[str]:
    """Every key of the list."""
    return _known()[1]


@cache
def _known() -> tuple[Callable[[str], bool], list[str]]:
    return known_keys(files(__package__).joinpath("keys.txt").read_text(encoding="utf-8").splitlines())
