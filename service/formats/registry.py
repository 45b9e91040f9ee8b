"""Every dialect that can be read, and the choice between them. A new dialect or wrapper adds one line here."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from service.formats import (
    accelerate,
    axolotl,
    deepspeed,
    huggingface,
    hydra,
    kubernetes,
    llamafactory,
    megatron,
    nanotron,
    nemo,
    slurm,
    torch_fsdp,
    torchtitan,
    torchtune,
)
from service.formats.dialect import Dialect, Wrapper
from service.formats.draft import Draft
from service.formats.imported import Imported
from service.formats.source import ConfigSource

_DIALECTS: tuple[Dialect, ...] = (
    megatron.DIALECT,
    huggingface.DIALECT,
    torch_fsdp.DIALECT,
    deepspeed.DIALECT,
    accelerate.DIALECT,
    torchtitan.DIALECT,
    nemo.DIALECT,
    nanotron.DIALECT,
    torchtune.DIALECT,
    axolotl.DIALECT,
    llamafactory.DIALECT,
    hydra.DIALECT,
)
_WRAPPERS: tuple[Wrapper, ...] = (slurm.WRAPPER, kubernetes.WRAPPER)
_BY_NAME = {each.name: each for each in _DIALECTS}
_WRAPPERS_BY_NAME = {each.name: each for each in _WRAPPERS}
_LEAST_CONFIDENCE = 0.2
_CERTAIN = 0.9
# A manifest may hold a script that holds a command; nothing real goes deeper.
_DEEPEST = 2


def import_source(source: ConfigSource) -> Imported:
    """Reads a foreign config: the job as far as it is known, its sources, what is missing and what is wrong.

    Never raises on a bad text: the outcome says `invalid`, and every problem is among the diagnostics.
    """
    wrapper, stated = _WRAPPERS_BY_NAME.get(source.format), _BY_NAME.get(source.format)
    if wrapper is not None:
        return _unwrapped(source, wrapper, 1.0, _DIALECTS, 1)
    if stated is None:
        return _read([source], _DIALECTS, 0) or _unrecognised()
    around = _certain_wrapper(source, stated)
    return _unwrapped(source, around, 1.0, (stated,), 1) if around else stated.read(source, 1.0)


def _read(sources: Sequence[ConfigSource], dialects: Sequence[Dialect], depth: int) -> Imported | None:
    """Reads the one of several sources that something recognises best: a wrapper opens it, a dialect reads it."""
    best = _best(sources, dialects, depth)
    if best is None:
        return None
    confidence, chosen, source = best
    if isinstance(chosen, Wrapper):
        return _unwrapped(source, chosen, confidence, dialects, depth + 1)
    return chosen.read(source, confidence)


def _best(
    sources: Sequence[ConfigSource], dialects: Sequence[Dialect], depth: int
) -> tuple[float, Dialect | Wrapper, ConfigSource] | None:
    choices = [
        (each.recognise(source), each, source) for source in sources for each in _candidates(source, dialects, depth)
    ]
    best = max(choices, key=lambda choice: choice[0], default=None)
    return best if best is not None and best[0] >= _LEAST_CONFIDENCE else None


def _candidates(source: ConfigSource, dialects: Sequence[Dialect], depth: int) -> Iterator[Dialect | Wrapper]:
    script = slurm.is_script(source)
    yield from (each for each in dialects if each.reads_scripts or not script)
    if depth < _DEEPEST:
        yield from _WRAPPERS


def _certain_wrapper(source: ConfigSource, stated: Dialect) -> Wrapper | None:
    """The wrapper of a text that is nothing else, when the stated dialect must be inside it."""
    if kubernetes.WRAPPER.recognise(source) >= _CERTAIN:
        return kubernetes.WRAPPER
    return slurm.WRAPPER if slurm.is_script(source) and not stated.reads_scripts else None


def _unwrapped(
    source: ConfigSource, wrapper: Wrapper, confidence: float, dialects: Sequence[Dialect], depth: int
) -> Imported:
    wrapped = wrapper.unwrap(source)
    best = _best(wrapped.sources, dialects, depth)
    if best is None:
        by_itself = _best([source], [each for each in dialects if each.reads_scripts], _DEEPEST)
        if by_itself is not None and isinstance(by_itself[1], Dialect) and source.text:
            return by_itself[1].read(source, by_itself[0])
        return wrapped.alone(wrapper.name, confidence)
    sure, chosen, inside = best
    if isinstance(chosen, Wrapper):
        inner = _unwrapped(inside, chosen, sure, dialects, depth + 1)
    elif chosen.reads_scripts and wrapper is slurm.WRAPPER:
        return chosen.read(source, max(confidence, sure))
    else:
        inner = chosen.read(inside, sure)
    if inner.format in _WRAPPERS_BY_NAME:
        return wrapped.alone(wrapper.name, confidence, inner)
    return wrapped.around(replace(inner, confidence=min(confidence, inner.confidence)))


def _unrecognised() -> Imported:
    draft = Draft("unknown", 0.0)
    names = ", ".join((*_BY_NAME, *_WRAPPERS_BY_NAME))
    draft.note(
        "unknown_format",
        "error",
        f"the text is in none of the known formats ({names})",
        rule="a launch script, a list of flags or a config file",
        fixes=[f"set source.format to one of {names}"],
    )
    return draft.finish()
