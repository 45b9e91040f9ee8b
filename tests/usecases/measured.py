"""Measured runs of one small Megatron job, for tests."""

import json
from typing import Any

JOB: dict[str, Any] = {
    "model": {
        "model_type": "llama",
        "hidden_size": 1024,
        "num_hidden_layers": 8,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "intermediate_size": 4096,
        "vocab_size": 32000,
    },
    "framework": {"name": "megatron-core", "transformer_impl": "transformer_engine"},
    "world_size": 4,
    "parallelism": {"pipeline": 4},
    "batch": {"micro": 1, "global": 8, "sequence_length": 2048},
    "kernels": {"attention": "flash"},
    "dropout": {"hidden": 0.0, "attention": 0.0},
}


def run(**changes: Any) -> dict[str, Any]:
    """A run with 4 GiB allocated on its worst stage."""
    row = {
        "id": "small",
        "job": JOB,
        "device": "h100-sxm-80gb",
        "measured": {"kind": "allocated", "bytes": 4 << 30},
        "grade": "A",
        "family": "example",
        "source": "a test",
        "notes": "none",
    }
    return {**row, **changes}


def lines(*rows: Any) -> bytes:
    """Rows as a file; text stands as it is."""
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()
