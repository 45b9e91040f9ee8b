"""The text of a DeepSpeed file, which must be strict JSON; what templates and comments make of it is told apart."""

import json
import re
from typing import Any

from service.formats.draft import Draft
from service.formats.syntax.documents import DocumentFault, read_json

_BARE = re.compile(
    r"(?P<before>[:\[,]\s*)(?P<name>\$\{[A-Za-z_]\w*\}|\$?[A-Za-z_][\w.-]*|\{\{[^{}\n]{0,200}\}\}|<[^<>\n]{0,100}>)"
    r"(?=\s*[,}\]])"
)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_WORDS = frozenset({"true", "false", "null"})
_SCANNED = 256 * 1024
_COMMENT = re.compile(r"(^|[\s,{\[])(//|/\*|#)")
_TRAILING = re.compile(r",\s*[}\]]")


def read_config(text: str, env: dict[str, str], draft: Draft) -> dict[str, Any] | None:
    """The object in a text, or None with an error that has a position and says what to do."""
    try:
        document = read_json(text)
    except DocumentFault as fault:
        filled = _template(text, env)
        if filled is not None:
            return filled
        _refuse(draft, text, fault)
        return None
    for key in document.repeated[:10]:
        draft.note("duplicate_key", "warning", f"the key {key} is given twice; the last one is used", found=key)
    if not isinstance(document.value, dict):
        draft.note("syntax", "error", "the text is not one JSON object", rule="one JSON object")
        return None
    found: dict[str, Any] = document.value
    return found


def _template(text: str, env: dict[str, str]) -> dict[str, Any] | None:
    """The object once bare words are filled from `env` or stand in quotes, where they are marks to be filled in."""
    if len(text) > _SCANNED:
        return None
    strings = _STRING.findall(text)

    def written(matched: re.Match[str]) -> str:
        name = matched.group("name")
        if name in _WORDS:
            return matched.group(0)
        plain = name.strip("${}<>. ")
        value = _literal(env[plain]) if plain in env else json.dumps(name if name != plain else f"${{{name}}}")
        return f"{matched.group('before')}{value}"

    parts = _BARE.sub(written, _STRING.sub("\x00", text.replace("\x00", ""))).split("\x00")
    if len(parts) != len(strings) + 1:
        return None
    whole = "".join(part + string for part, string in zip(parts, [*strings, ""], strict=True))
    try:
        value = read_json(whole).value
    except DocumentFault:
        return None
    return value if isinstance(value, dict) else None


def _literal(value: str) -> str:
    try:
        json.loads(value)
    except ValueError:
        return json.dumps(value)
    return value


def note_template(draft: Draft, names: list[str]) -> None:
    """Names every place of a template that is still to be filled in."""
    if not names:
        return
    listed = ", ".join(dict.fromkeys(names))
    draft.note(
        "template_not_json",
        "error",
        f"the text is a template: {listed} must be filled in before it is JSON",
        found=listed,
        rule="JSON with every placeholder replaced",
        fixes=[f"pass env.{name}" for name in dict.fromkeys(names)],
    )


def _refuse(draft: Draft, text: str, fault: DocumentFault) -> None:
    head = _STRING.sub('""', text[:_SCANNED])
    hint, fixes = "", []
    if _COMMENT.search(head):
        hint, fixes = "; JSON has no comments", ["remove the comments"]
    elif _TRAILING.search(head):
        hint, fixes = "; JSON allows no comma before a closing bracket", ["remove the trailing comma"]
    draft.note(fault.code, "error", f"{fault}{hint}", found=text[:60], rule="one strict JSON object", fixes=fixes)
