"""Values of a job while it is being filled in."""

from service.job.values import Values


def test_a_value_is_found_by_its_pointer_and_with_its_section() -> None:
    values = Values()
    values.give("", {"batch": {"micro": 2}, "world_size": 8})
    values.fill("/precision/fp8", {"bf16_layers": {"first": 1}}, "default", "here")
    assert values.get("/batch/micro") == 2
    assert values.get("/precision/fp8/bf16_layers/first") == 1
    assert values.section("/batch") == {"micro": 2}
    assert values.get("/batch/micro/deeper") is None
    assert values.document() == {
        "batch": {"micro": 2},
        "world_size": 8,
        "precision": {"fp8": {"bf16_layers": {"first": 1}}},
    }


def test_a_default_takes_the_place_of_nothing_that_was_given() -> None:
    values = Values()
    values.give("", {"batch": {"micro": 2}})
    values.fill("/batch/micro", 1, "default")
    values.fill("/batch/global", None, "default")
    assert values.section("/batch") == {"micro": 2}
    assert values.sources["/batch/micro"].origin == "given"


def test_what_is_filled_in_after_sections_were_adopted_stays_here() -> None:
    shared, values = Values(), Values()
    shared.give("/model", {"hidden_size": 4096})
    values.adopt(shared)
    values.fill("/model/vocab_size", 128256, "default")
    assert values.document() == {"model": {"hidden_size": 4096, "vocab_size": 128256}}
    assert shared.document() == {"model": {"hidden_size": 4096}}
    assert values.sources["/model/hidden_size"].origin == "given"
