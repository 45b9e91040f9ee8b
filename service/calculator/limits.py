"""Bounds on inputs, chosen so that no intermediate of the calculator passes 2**63.

The bounds are far above any published model: they refuse nonsense, not ambition. `estimate.largest_bytes` checks the
one product that these bounds alone do not keep below 2**62 (stored scores times layers times micro-batches).
"""

LAYERS = 10_000
WIDTH = 1 << 20
HEADS = 1 << 14
VOCABULARY = 10_000_000
EXPERTS = 100_000
SEQUENCE = 1 << 24
WORLD_SIZE = 1_000_000
MICRO_BATCH = 1 << 16
GLOBAL_BATCH = 1 << 26
LAYOUT_TEXT = 10_000
LARGEST_BYTES = 1 << 62
