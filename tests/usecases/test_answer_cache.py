"""The memory of answers: bounded by weight, the least recently used go first."""

from hypothesis import given
from hypothesis import strategies as st

from service.usecases.answer_cache import AnswerCache


def test_what_was_used_last_is_kept() -> None:
    cache: AnswerCache[str, int] = AnswerCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def test_what_is_too_heavy_alone_drives_nothing_out() -> None:
    cache: AnswerCache[str, int] = AnswerCache(10)
    cache.put("a", 1, 10)
    cache.put("b", 2, 11)
    assert (cache.get("a"), cache.get("b")) == (1, None)


def test_all_can_be_forgotten() -> None:
    cache: AnswerCache[str, int] = AnswerCache(2)
    cache.put("a", 1, 2)
    cache.clear()
    assert cache.get("a") is None
    cache.put("b", 2, 2)
    assert cache.get("b") == 2


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=40))
def test_it_is_never_heavier_than_it_may_be(puts: list[tuple[int, int]]) -> None:
    cache: AnswerCache[int, int] = AnswerCache(10)
    for key, weight in puts:
        cache.put(key, weight, weight)
        assert sum(weight for _, weight in cache._answers.values()) == cache._weight <= 10
    kept = [key for key in range(10) if cache.get(key) is not None]
    assert all(cache.get(key) == dict(puts)[key] for key in kept if dict(puts)[key] <= 10)
