"""What a framework refuses: one formula per rule, for one layout and for a search over many."""

from service.calculator.validity.facts import DIRECTIONS, Facts, Truth, complete, facts_of, model_facts, positions_limit
from service.calculator.validity.rules import (
    BY_FRAMEWORK,
    GENERAL,
    MEGATRON,
    WORLD_SIZE,
    Rule,
    broken_rules,
    rules_of,
    sequence_divisor,
    violations,
)

__all__ = [
    "BY_FRAMEWORK",
    "DIRECTIONS",
    "GENERAL",
    "MEGATRON",
    "WORLD_SIZE",
    "Facts",
    "Rule",
    "Truth",
    "broken_rules",
    "complete",
    "facts_of",
    "model_facts",
    "positions_limit",
    "rules_of",
    "sequence_divisor",
    "violations",
]
