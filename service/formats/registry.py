"""Every dialect that can be read, and the choice between them. A new dialect or wrapper adds one line here."""

from collections.abc import Sequence

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


def import_source(source: ConfigSource) -> Imported:
    """Reads a foreign config: the job as far as it is known, its sources, what is missing and what is wrong.

    Never raises on a bad text: the outcome says `invalid`, and every problem is among the diagnostics.
    """
    wrapper, stated = _WRAPPERS_BY_NAME.get(source.format), _BY_NAME.get(source.format)
    if wrapper is not None:
        return _unwrapped(source, wrapper, 1.0, _DIALECTS)
    if stated is None:
        return _detected(source)
    around = _certain_wrapper(source, stated)
    return _unwrapped(source, around, 1.0, (stated,)) if around else stated.read(source, 1.0)


def _detected(source: ConfigSource) -> Imported:
    """Reads a source by whatever recognises it best; a script by its own dialect, or by that of its command."""
    script = slurm.is_script(source)
    dialect = _best([source], [each for each in _DIALECTS if each.reads_scripts or not script])
    confidence, wrapper = max(((each.recognise(source), each) for each in _WRAPPERS), key=lambda pair: pair[0])
    if confidence >= _LEAST_CONFIDENCE and (dialect is None or confidence > dialect[0]):
        return _unwrapped(source, wrapper, confidence, _DIALECTS)
    if dialect is None:
        return _unrecognised()
    sure, reader, _ = dialect
    if not reader.reads_scripts and slurm.holds_command(source):
        return _command(source, sure, reader)
    return reader.read(source, sure)


def _command(source: ConfigSource, confidence: float, dialect: Dialect) -> Imported:
    """Reads a command with the variables around it as a shell would, unless that leaves less of it to recognise."""
    wrapped = slurm.WRAPPER.unwrap(source)
    inside = _best(wrapped.sources, [dialect])
    if inside is None or inside[0] < confidence:
        return dialect.read(source, confidence)
    return wrapped.around(dialect.read(inside[2], confidence), read_script=False)


def _best(sources: Sequence[ConfigSource], dialects: Sequence[Dialect]) -> tuple[float, Dialect, ConfigSource] | None:
    """The dialect that is surest of one of the sources, if any is sure enough."""
    choices = [(each.recognise(source), each, source) for source in sources for each in dialects]
    # A command is better read with the file that it names than without.
    best = max(choices, key=lambda choice: (choice[0], bool(choice[2].text)), default=None)
    return best if best is not None and best[0] >= _LEAST_CONFIDENCE else None


def _certain_wrapper(source: ConfigSource, stated: Dialect) -> Wrapper | None:
    """The wrapper of a text that is nothing else, when the stated dialect must be inside it."""
    if kubernetes.WRAPPER.recognise(source) >= _CERTAIN:
        return kubernetes.WRAPPER
    return slurm.WRAPPER if slurm.is_script(source) and not stated.reads_scripts else None


def _unwrapped(source: ConfigSource, wrapper: Wrapper, confidence: float, dialects: Sequence[Dialect]) -> Imported:
    """Reads the command that a wrapper finds, in the dialect that recognises it, or else the script around it."""
    wrapped = wrapper.unwrap(source)
    scripts = [each for each in dialects if each.reads_scripts]
    best = _best(wrapped.sources, dialects) or _best([wrapped.script] if wrapped.script.text else [], scripts)
    if best is None:
        return wrapped.alone(wrapper.name, confidence)
    sure, dialect, inside = best
    given = wrapped.script if dialect.reads_scripts else inside
    inner = dialect.read(given, min(confidence, sure))
    return wrapped.around(inner, read_script=dialect.reads_scripts)


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
