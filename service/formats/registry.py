"""Every dialect that can be read, and the choice between them. A new dialect adds one line here."""

from service.formats import huggingface, megatron
from service.formats.dialect import Dialect
from service.formats.draft import Draft
from service.formats.imported import Imported
from service.formats.source import ConfigSource

_DIALECTS: tuple[Dialect, ...] = (megatron.DIALECT, huggingface.DIALECT)
_BY_NAME = {each.name: each for each in _DIALECTS}
_LEAST_CONFIDENCE = 0.2


def import_source(source: ConfigSource) -> Imported:
    """Reads a foreign config: the job as far as it is known, its sources, what is missing and what is wrong.

    Never raises on a bad text: the outcome says `invalid`, and every problem is among the diagnostics.
    """
    if source.format != "auto":
        return _BY_NAME[source.format].read(source, 1.0)
    confidence, dialect = max(((each.recognise(source), each) for each in _DIALECTS), key=lambda pair: pair[0])
    if confidence < _LEAST_CONFIDENCE:
        return _unrecognised()
    return dialect.read(source, confidence)


def _unrecognised() -> Imported:
    draft = Draft("unknown", 0.0)
    names = ", ".join(_BY_NAME)
    draft.note(
        "unknown_format",
        "error",
        f"the text is in none of the known formats ({names})",
        rule="a launch script, a list of flags or a config file",
        fixes=[f"set source.format to one of {names}"],
    )
    return draft.finish()
