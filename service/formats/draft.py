"""The job while a dialect writes it: values by JSON Pointer, each with its source, and everything worth saying."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from rapidfuzz import fuzz, process

from service.formats.imported import Imported, Outcome
from service.job.diagnostics import Diagnostic, Findings, MissingFact, Origin, Severity, Source
from service.job.schema import Job, ModelSection

_LONGEST_FOUND = 120
_MOST_UNKNOWN = 50
# In percent: `seq-len` is 82 % like `seq-length`.
_LIKENESS = 80


class Draft:
    """Values, sources, diagnostics and missing facts of one import."""

    def __init__(self, format_: str, confidence: float) -> None:
        self._format = format_
        self._confidence = confidence
        self._values: dict[str, Any] = {}
        self._sources: dict[str, Source] = {}
        self._diagnostics: list[Diagnostic] = []
        self._lacking: list[tuple[MissingFact, str, Diagnostic | None]] = []
        self._unknown: list[str] = []
        self._unread: set[str] = set()
        self._waived: set[str] = set()

    def set(self, pointer: str, value: Any, origin: Origin, where: str = "") -> None:
        """Writes a value; a later one replaces an earlier one, except that nothing replaces what the request gives."""
        if value is not None and (origin == "given" or self.origin(pointer) != "given"):
            self._values[pointer] = value
            self._sources[pointer] = Source(origin, where)

    def fill(self, pointer: str, value: Any, origin: Origin, where: str = "") -> None:
        """Writes a value unless there is one, or unless one is written that could not be read."""
        if pointer not in self._values and pointer not in self._unread:
            self.set(pointer, value, origin, where)

    def leave_open(self, pointer: str) -> None:
        """Keeps defaults away from a value that is written but could not be read."""
        self._unread.add(pointer)

    def is_open(self, pointer: str) -> bool:
        """Whether a value is written but could not be read."""
        return pointer in self._unread and pointer not in self._values

    def get(self, pointer: str) -> Any:
        """The value at a pointer, or None."""
        return self._values.get(pointer)

    def drop(self, pointer: str) -> None:
        """Takes a value back."""
        self._values.pop(pointer, None)
        self._sources.pop(pointer, None)

    def origin(self, pointer: str) -> Origin | None:
        """Where the value at a pointer came from, None when there is none."""
        return self._sources[pointer].origin if pointer in self._sources else None

    def where(self, pointer: str) -> str:
        """The line, key or rule that the value at a pointer came from, empty when there is none."""
        return self._sources[pointer].where if pointer in self._sources else ""

    def note(
        self,
        code: str,
        severity: Severity,
        message: str,
        *,
        fields: Sequence[str] = (),
        found: str = "",
        rule: str = "",
        fixes: Sequence[str] = (),
    ) -> None:
        """Adds a diagnostic, each one once."""
        self.take(Diagnostic(code, severity, message, tuple(fields), found[:_LONGEST_FOUND], rule, tuple(fixes)))

    def take(self, diagnostic: Diagnostic) -> None:
        """Adds a diagnostic that was made elsewhere, each one once."""
        if diagnostic not in self._diagnostics:
            self._diagnostics.append(diagnostic)

    def lack(self, fact: str, message: str, pointer: str = "", diagnostic: Diagnostic | None = None) -> None:
        """Names a fact that the config does not state; the first message about it stays.

        With a `pointer` the fact counts only if there is still no value in the end; so does the diagnostic.
        """
        self._lacking.append((MissingFact(fact, message), pointer, diagnostic))

    def waive(self, fact: str) -> None:
        """Keeps a fact from being named as missing, because a wider question asks for it too."""
        self._waived.add(fact)

    def lacks(self) -> bool:
        """Whether anything is missing so far."""
        return bool(self._missing())

    def _missing(self) -> dict[str, MissingFact]:
        found: dict[str, MissingFact] = {}
        for fact, pointer, _ in self._lacking:
            if fact.fact not in self._waived and (not pointer or pointer not in self._values):
                found.setdefault(fact.fact, fact)
        return found

    def unknown(self, keys: Sequence[str], known: Sequence[str], severity: Severity = "warning") -> None:
        """Reports keys that the dialect does not know, all in one finding, with the nearest known ones."""
        self._unknown = list(dict.fromkeys(keys))
        if not self._unknown:
            return
        shown = self._unknown[:_MOST_UNKNOWN]
        near = {key: _nearest(key, known) for key in shown}
        listed = ", ".join(key + (f" (did you mean {near[key]}?)" if near[key] else "") for key in shown)
        self.note(
            "unknown_keys",
            severity,
            f"these keys are not known for this format: {listed}",
            found=", ".join(shown),
            fixes=[f"{key} -> {near[key]}" for key in shown if near[key]],
        )

    def complete(self, model: ModelSection | None, world_size: int | None) -> None:
        """Applies what the request gives beside the text; it overrides the text, so it comes first."""
        stated = model.model_dump(exclude_unset=True, exclude_none=True) if model else {}
        for key, value in stated.items():
            self.set(f"/model/{key}", value, "given", "source.model")
        self.set("/world_size", world_size, "given", "source.world_size")

    def finish(self) -> Imported:
        """The answer: the job as far as it is valid, and everything found."""
        job = self._job()
        missing = self._missing()
        for _, pointer, diagnostic in self._lacking:
            if diagnostic is not None and (not pointer or pointer not in self._values):
                self.take(diagnostic)
        outcome: Outcome = "ok"
        if any(each.severity == "error" for each in self._diagnostics):
            outcome = "invalid"
        elif missing or job is None:
            outcome = "incomplete"
        findings = Findings(tuple(self._diagnostics), tuple(missing.values()), dict(self._sources))
        unread = frozenset(self._unread - self._values.keys())
        return Imported(outcome, self._format, self._confidence, job, findings, tuple(self._unknown), unread)

    def _job(self) -> Job | None:
        """The validated job; values that the schema refuses become diagnostics and are left out."""
        if "/framework/name" not in self._values:
            return None
        # Each round takes at least one value out, so that there are no more rounds than values.
        for _ in range(len(self._values)):
            try:
                return Job.model_validate(self._document())
            except ValidationError as refused:
                for error in refused.errors():
                    if error["type"] == "missing":
                        self._drop_section(error["loc"])
                    else:
                        self._refuse(error["loc"], error["msg"], error["input"])
        return None

    def _drop_section(self, location: Sequence[int | str]) -> None:
        """Takes a section back whose required value was refused, or never known."""
        section = "/" + "/".join(map(str, location[:-1])) + "/"
        for pointer in [each for each in self._values if each.startswith(section)]:
            self.drop(pointer)

    def _refuse(self, location: Sequence[int | str], message: str, found: Any) -> None:
        pointer = "/" + "/".join(map(str, location))
        held = max((each for each in self._values if f"{pointer}/".startswith(f"{each}/")), key=len, default="")
        if not held:
            # Another part of the same value was refused before, and the value is out already.
            return
        where = self._sources[held].where
        self.note(
            "value_type",
            "error",
            f"{where or pointer}: {message}",
            fields=[held],
            found=str(found)[:_LONGEST_FOUND],
            rule=message,
        )
        self.drop(held)

    def _document(self) -> dict[str, Any]:
        """The values as nested objects; deeper pointers are written last, so that they add to what is above them."""
        document: dict[str, Any] = {"model": {}}
        for pointer, value in sorted(self._values.items(), key=lambda item: item[0].count("/")):
            *parents, leaf = pointer.strip("/").split("/")
            node = document
            for part in parents:
                node = node.setdefault(part, {})
            node[leaf] = dict(value) if isinstance(value, Mapping) else value
        return document


def _nearest(key: str, known: Sequence[str]) -> str:
    """The known key that is most like another; empty when none is."""
    near = process.extractOne(key[:_LONGEST_FOUND], known, scorer=fuzz.ratio, score_cutoff=_LIKENESS)
    return near[0] if near else ""
