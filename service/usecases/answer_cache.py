"""A bounded memory of answers: the least recently used go first."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class AnswerCache(Generic[Key, Value]):
    """Answers by question, together no heavier than `capacity`; shared by all threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._weight = 0
        self._answers: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._turn = threading.Lock()

    def get(self, key: Key) -> Value | None:
        """Return the answer to a question, or None when it is not remembered."""
        with self._turn:
            found = self._answers.get(key)
            if found is None:
                return None
            self._answers.move_to_end(key)
            return found[0]

    def put(self, key: Key, answer: Value, weight: int = 1) -> None:
        """Remember an answer, and forget the oldest ones as far as needed; what is too heavy alone is not kept."""
        if weight > self._capacity:
            return
        with self._turn:
            _, replaced = self._answers.pop(key, (None, 0))
            self._answers[key] = (answer, weight)
            self._weight += weight - replaced
            while self._weight > self._capacity:
                _, (_, dropped) = self._answers.popitem(last=False)
                self._weight -= dropped

    def drop(self, key: Key) -> None:
        """Forget one answer, if it is remembered."""
        with self._turn:
            _, dropped = self._answers.pop(key, (None, 0))
            self._weight -= dropped

    def clear(self) -> None:
        """Forget everything, as when devices or measured runs change."""
        with self._turn:
            self._answers.clear()
            self._weight = 0
