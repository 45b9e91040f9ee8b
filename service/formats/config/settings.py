"""A parsed config file by dotted key: each value coerced, with its source and its faults noted in the draft."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from service.formats.config.templates import Unfilled, filled, mark
from service.formats.draft import Draft
from service.formats.syntax.values import ValueFault, boolean, integer, number, tokens
from service.job.diagnostics import Diagnostic, Origin

# Together they bound the length of all dotted keys of a hostile file.
_DEEPEST = 20
_LONGEST_NAME = 200
_MOST_KEYS = 20_000
_MOST_UNREAD = 500
_SHOWN = 60
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of a file: its normalised key, the key as spelled, and the value as parsed."""

    key: str
    spelled: str
    value: Any
    where: str


@dataclass(slots=True)
class Settings:
    """Values of one file. Keys are normalised: lower case, `_` for `-`, levels joined by dots.

    A `quiet` file asks for what has to be filled in without a diagnostic of its own.
    """

    draft: Draft
    values: dict[str, Setting] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    origin: Origin = "key"
    read: set[str] = field(default_factory=set)
    quiet: bool = False

    @classmethod
    def of(
        cls,
        document: Mapping[str, Any],
        draft: Draft,
        *,
        label: str = "",
        env: Mapping[str, str] | None = None,
        origin: Origin = "key",
    ) -> "Settings":
        """The settings of a nested document."""
        return cls(draft, _flattened(document, label), env or {}, origin)

    def __contains__(self, key: str) -> bool:
        """Whether a key is written with something in it; the key counts as read."""
        self.read.add(key)
        found = self.values.get(key)
        return found is not None and found.value not in (None, "", "~") and found.value != {}

    def __bool__(self) -> bool:
        """Whether there is anything at all."""
        return bool(self.values)

    def under(self, prefix: str) -> list[Setting]:
        """Everything below a key."""
        return [each for key, each in self.values.items() if key.startswith(f"{prefix}.")]

    def find(self, *keys: str) -> Setting | None:
        """The first of these keys that is written with something in it; all count as read."""
        present = [key for key in keys if key in self]
        return self.values[present[0]] if present else None

    def raw(self, *keys: str) -> Any:
        """The value of the first key as parsed, or None."""
        found = self.find(*keys)
        return None if found is None else found.value

    def where(self, *keys: str) -> str:
        """The place and spelling of the first key that is written."""
        found = self.find(*keys)
        return keys[0] if found is None else found.where

    def text(self, *keys: str, pointer: str = "") -> str | None:
        """The value as text; None when absent or still to be filled in, which the draft then says."""
        return self._coerced(keys, pointer, lambda value: str(value).strip(), "a text")

    def integer(self, *keys: str, pointer: str = "") -> int | None:
        """A whole number; None when absent, `auto`, or refused, which the draft then says."""
        return self._coerced(keys, pointer, _numeric(integer), "an integer", numeric=True)

    def number(self, *keys: str, pointer: str = "") -> float | None:
        """A real number; None when absent, `auto`, or refused, which the draft then says."""
        return self._coerced(keys, pointer, _numeric(number), "a number", numeric=True)

    def on(self, *keys: str, pointer: str = "") -> bool | None:
        """True or false; None when absent, `auto`, or refused, which the draft then says."""
        return self._coerced(keys, pointer, _numeric(boolean), "true or false", numeric=True)

    def is_auto(self, *keys: str) -> bool:
        """Whether the value is left to somebody else."""
        value = self.raw(*keys)
        return isinstance(value, str) and value.strip().lower() == "auto"

    def unfilled(self) -> list[str]:
        """Names of everything in the file that still has to be filled in; running text is nobody's value."""
        texts = [each.value for each in self.values.values() if isinstance(each.value, str)]
        texts = [each for each in texts if " " not in each.strip() or each.strip().startswith("{{")]
        found = [each for text in texts if isinstance(each := self._filled(text, numeric=True), Unfilled)]
        return list(dict.fromkeys(each.name for each in found))

    def put(self, pointer: str, *keys: str) -> int | None:
        """Copies a whole number into the job, and returns it."""
        value = self.integer(*keys, pointer=pointer)
        self.draft.set(pointer, value, self.origin, self.where(*keys))
        return value

    def put_switch(self, pointer: str, *keys: str) -> bool | None:
        """Copies true or false into the job, and returns it."""
        value = self.on(*keys, pointer=pointer)
        self.draft.set(pointer, value, self.origin, self.where(*keys))
        return value

    def put_tokens(self, pointer: str, *keys: str) -> int | None:
        """Copies a number of tokens into the job, and returns it; `8k` is 8192, which the draft then says."""
        found = self._coerced(keys, pointer, _numeric(tokens), "a number of tokens", numeric=True)
        if found is None:
            return None
        where = self.where(*keys)
        if found[1]:
            message = f"{where}: {self.raw(*keys)} is read as {found[0]} tokens"
            self.draft.note("unit_suffix", "info", message, fields=[pointer], found=str(self.raw(*keys)))
        self.draft.set(pointer, found[0], self.origin, where)
        return found[0]

    def put_choice(self, pointer: str, choices: Mapping[str, Any], *keys: str) -> Any:
        """Copies what a word stands for into the job, and returns it; an unknown word is an error."""
        text = self.text(*keys, pointer=pointer)
        if text is None or text.lower() == "auto":
            return None
        if text.lower() not in choices:
            self.refuse(f'the text "{text[:_SHOWN]}" is none of {", ".join(choices)}', *keys, pointer=pointer)
            return None
        value = choices[text.lower()]
        self.draft.set(pointer, value, self.origin, self.where(*keys))
        return value

    def refuse(self, fault: str, *keys: str, pointer: str = "") -> None:
        """Notes that a value is not of the expected kind, and keeps defaults away from it."""
        self.draft.leave_open(pointer)
        self.draft.note(
            "value_type",
            "error",
            f"{self.where(*keys)}: {fault}",
            fields=[pointer] if pointer else [],
            found=str(self.raw(*keys))[:_SHOWN],
            rule=fault.rsplit("; ", maxsplit=1)[-1],
        )

    def unread(self, known: Callable[[str], bool]) -> list[str]:
        """The keys, as spelled, that nobody read and the dialect does not know; as many as anybody would look at."""
        found = (each.spelled for key, each in self.values.items() if key not in self.read and not known(key))
        return list(islice(found, _MOST_UNREAD))

    def report(self, known: Callable[[str], bool], names: Sequence[str]) -> None:
        """Notes the keys that nobody read and the dialect does not know, with the nearest known ones."""
        self.draft.unknown(self.unread(known), names)

    def _coerced(
        self,
        keys: Sequence[str],
        pointer: str,
        coerce: Callable[[Any], _Value | None],
        expected: str,
        *,
        numeric: bool = False,
    ) -> _Value | None:
        found = self.find(*keys)
        if found is None:
            return None
        if isinstance(found.value, (list, dict)):
            self.refuse(
                f"a {type(found.value).__name__} is no single value; expected {expected}", *keys, pointer=pointer
            )
            return None
        value = self._filled(found.value, numeric=numeric)
        if isinstance(value, Unfilled):
            self._ask(found, value, pointer)
            return None
        try:
            return coerce(value)
        except ValueFault as fault:
            self.refuse(str(fault), *keys, pointer=pointer)
            return None

    def _filled(self, value: Any, *, numeric: bool) -> Any:
        if isinstance(value, Unfilled) or not isinstance(value, str):
            return value
        done = filled(value, self.env)
        return mark(done, self.env) if numeric and isinstance(done, str) else done

    def _ask(self, setting: Setting, unfilled: Unfilled, pointer: str) -> None:
        """Asks for what has to be filled in."""
        self.draft.leave_open(pointer)
        message = f"{setting.where} is {unfilled.text[:_SHOWN]}: {unfilled.name} is to be filled in and not given"
        fields = (pointer,) if pointer else ()
        fixes = (f"pass env.{unfilled.name}",) if unfilled.name.isidentifier() else ()
        diagnostic = Diagnostic("unresolved", "warning", message, fields, unfilled.name, "a value", fixes)
        self.draft.lack(unfilled.name, message, pointer, None if self.quiet else diagnostic)


def _numeric(coerce: Callable[[Any], _Value]) -> Callable[[Any], _Value | None]:
    """The coercion, except that `auto` and the words for nothing are no value."""

    def checked(value: Any) -> _Value | None:
        if isinstance(value, str) and value.strip().lower() in {"auto", "none", "null", "~", ""}:
            return None
        return coerce(value)

    return checked


def normalized_key(key: object) -> str:
    """A key in lower case with `_` for `-`."""
    return str(key)[:_LONGEST_NAME].strip().lower().replace("-", "_")


def _flattened(document: Mapping[str, Any], label: str) -> dict[str, Setting]:
    """Leaves by dotted key, without recursion; lists are leaves."""
    found: dict[str, Setting] = {}
    pending: list[tuple[str, str, Any, int]] = [("", "", document, 0)]
    while pending and len(found) < _MOST_KEYS:
        key, spelled, value, depth = pending.pop()
        if isinstance(value, Mapping) and depth < _DEEPEST and (value or not key):
            inner = [(_joined(key, normalized_key(name)), _joined(spelled, str(name)[:_LONGEST_NAME]), each, depth + 1)
                     for name, each in value.items()]  # fmt: skip
            pending.extend(reversed(inner))
        else:
            found[key] = Setting(key, spelled, value, f"{label}: {spelled}" if label else spelled)
    return found


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def known_keys(lines: Iterable[str]) -> tuple[Callable[[str], bool], list[str]]:
    """A test whether a dotted key is known, and the names to suggest, from lines such as `a.b` and `a.c.*`."""
    entries = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    exact = {each for each in entries if not each.endswith("*")}
    prefixes = tuple(each.removesuffix("*") for each in entries if each.endswith("*"))
    sections = {each.rpartition(".")[0] for each in entries} | {each.removesuffix(".") for each in prefixes}

    def known(key: str) -> bool:
        return key in exact or key in sections or (bool(prefixes) and key.startswith(prefixes))

    return known, sorted(exact)
