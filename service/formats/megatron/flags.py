"""Typed access to Megatron's arguments: the last of a repeated flag, coerced, with its source noted in the draft."""

import re
from collections.abc import Iterable, Sequence

from service.formats.draft import Draft
from service.formats.megatron.vocabulary import ALIASES, is_known, known_flags
from service.formats.syntax.argv import Argument, parse_arguments
from service.formats.syntax.values import ValueFault, boolean, integer, number
from service.formats.syntax.words import Hole, Holes, Word
from service.job.diagnostics import Diagnostic, Origin

_SHOWN = 60
_MEMBER = re.compile(r"^(?:AttnBackend|torch|CudaGraphScope|Fp8Recipe)\.(?=\w+$)")
_TYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


class Flags:
    """The arguments of one training program, by normalised name of today's Megatron."""

    def __init__(self, arguments: Iterable[Argument], holes: Holes, draft: Draft, origin: Origin) -> None:
        self.holes = holes
        self.origin = origin
        self._draft = draft
        self._last: dict[str, Argument] = {}
        self._repeated: dict[str, list[str]] = {}
        self._asked: set[str] = set()
        self._explained: set[str] = set()
        for argument in arguments:
            key = ALIASES.get(argument.key, argument.key)
            if key in self._last:
                self._repeated.setdefault(key, [holes.shown(self._last[key].text)]).append(holes.shown(argument.text))
            self._last[key] = argument

    def __contains__(self, key: str) -> bool:
        """Whether a flag is given, with whatever value."""
        self._asked.add(key)
        return key in self._last

    def explained(self, key: str) -> bool:
        """Whether the draft already says why a flag has no value."""
        return key in self._explained

    def spelled(self, key: str) -> bool:
        """Whether a flag is given under exactly this older name."""
        return any(each.key == key for each in self._last.values())

    def where(self, key: str) -> str:
        """The place and spelling of a flag, for people."""
        argument = self._last[key]
        return f"{argument.where}: {argument.spelled}" if argument.where else argument.spelled

    def text(self, key: str, pointer: str = "") -> str | None:
        """The value as written, all values joined by blanks; None when absent, empty or undecided."""
        if key not in self or not self._last[key].values:
            return None
        text = self._last[key].text
        hidden = self.holes.within(text)
        if hidden:
            self._undecided(key, hidden[0], pointer)
            return None
        # A dump prints members of Python's own types: AttnBackend.flash, torch.bfloat16.
        return _TYPES.get(member := _MEMBER.sub("", text.strip()), member) or None

    def integer(self, key: str, pointer: str = "") -> int | None:
        """The value as a whole number; None when absent or refused, which the draft then says."""
        text = self.text(key, pointer)
        try:
            return None if text is None or text.lower() == "none" else integer(text)
        except ValueFault as fault:
            self._refused(key, fault, pointer)
            return None

    def number(self, key: str, pointer: str = "") -> float | None:
        """The value as a real number; None when absent or refused, which the draft then says."""
        text = self.text(key, pointer)
        try:
            return None if text is None or text.lower() == "none" else number(text)
        except ValueFault as fault:
            self._refused(key, fault, pointer)
            return None

    def on(self, key: str) -> bool:
        """Whether a switch is on: given without a value, or with a true one."""
        if key not in self:
            return False
        if not self._last[key].values:
            return True
        text = self.text(key)
        try:
            return text is not None and boolean(text)
        except ValueFault as fault:
            self._refused(key, fault, "")
            return False

    def put(self, key: str, pointer: str) -> None:
        """Copies a whole number into the job."""
        value = self.integer(key, pointer)
        if value is not None:
            self._draft.set(pointer, value, self.origin, self.where(key))

    def _undecided(self, key: str, hole: Hole, pointer: str) -> None:
        self._explained.add(key)
        self._draft.leave_open(pointer)
        lack_hole(self._draft, self.holes, hole, f"{self.where(key)}", pointer, self._last[key].text)

    def _refused(self, key: str, fault: ValueFault, pointer: str) -> None:
        self._explained.add(key)
        self._draft.leave_open(pointer)
        self._draft.note(
            "value_type",
            "error",
            f"{self.where(key)}: {fault}",
            fields=[pointer] if pointer else [],
            found=self._last[key].text[:_SHOWN],
            rule=str(fault).rsplit("; ", maxsplit=1)[-1],
        )

    def report(self, *, written: bool, further: frozenset[str] = frozenset()) -> None:
        """Notes flags that are given more than once and, among those that a person wrote, ones Megatron lacks."""
        for key, values in self._repeated.items():
            shown = ", then ".join(value[:_SHOWN] or "set" for value in values)
            matters = key in self._asked and len(set(values)) > 1
            self._draft.note(
                "repeated_flag",
                "warning" if matters else "info",
                f"{self._last[key].spelled} is given {len(values)} times ({shown}); the last one is used",
                found=shown,
                rule="the last of a repeated flag counts",
            )
        if written:
            unknown = [each.key for each in self._last.values() if not is_known(each.key) and each.key not in further]
            self._draft.unknown(unknown, known_flags())


def lack_hole(draft: Draft, holes: Holes, hole: Hole, where: str, pointer: str, text: str) -> None:
    """Asks for what hides a value, and shows what it would be on either branch."""
    either = f"; it is {' or '.join(holes.shown(each) or 'empty' for each in hole.alternatives)}"
    told = f"{where} is {holes.shown(text)[:_SHOWN]}: {reason(hole)}{either if hole.alternatives else ''}"
    named = hole.kind in {"unset", "undecided"} and hole.name.isidentifier()
    fixes = (f"pass env.{hole.name}",) if named else ()
    fact = f"${hole.name}" if hole.kind == "positional" else hole.name
    fields = (pointer,) if pointer else ()
    diagnostic = Diagnostic("unresolved", "warning", told, fields, hole.name, "a value that the text decides", fixes)
    draft.lack(fact, told, pointer, diagnostic)


def reason(hole: Hole) -> str:
    """Why a hole is one, as a clause."""
    return hole.reason if hole.reason.startswith((hole.name, "$")) else f"{hole.name} {hole.reason}"


def hidden_keys(words: Sequence[Word], holes: Holes) -> dict[str, Hole]:
    """Flags that may stand inside undecided parts: normalised name to the hole that hides it."""
    found: dict[str, Hole] = {}
    for word in words:
        for hole in holes.within(word.text):
            for choice in hole.alternatives:
                inner = [Word(each) for each in choice.split()]
                for argument in parse_arguments(inner, holes, lambda _key: "one").arguments:
                    found.setdefault(ALIASES.get(argument.key, argument.key), hole)
    return found
