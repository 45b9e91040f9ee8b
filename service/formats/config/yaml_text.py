"""The one YAML mapping of a source that every reader of YAML files starts from."""

from collections.abc import Mapping
from typing import Any

from service.formats.config.companions import read_document
from service.formats.config.settings import Settings
from service.formats.draft import Draft
from service.formats.source import ConfigSource
from service.formats.syntax.documents import DocumentFault


def read_mapping(text: str, draft: Draft) -> Mapping[str, Any] | None:
    """The mapping in a text, or None with an error in the draft; keys that are given twice are noted."""
    try:
        document = read_document(text)
    except DocumentFault as fault:
        draft.note(fault.code, "error", str(fault), found=text[:60], rule="one YAML mapping")
        return None
    for key in document.repeated[:10]:
        draft.note("duplicate_key", "warning", f"the key {key} is given twice; the last one is used", found=key)
    if not isinstance(document.value, Mapping):
        draft.note("syntax", "error", "the text is not one mapping", rule="one YAML mapping")
        return None
    return document.value


def read_settings(source: ConfigSource, draft: Draft, what: str) -> Settings | None:
    """The settings of a source's text, or None with an error in the draft; `what` is the file's kind, for people."""
    text = source.text if source.text and source.text.strip() else ""
    if not text:
        draft.note("missing_file", "error", f"no {what} is supplied", rule="the file as source.text")
        return None
    document = read_mapping(text, draft)
    return None if document is None else Settings.of(document, draft, env=source.env)
