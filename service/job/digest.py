"""A digest that is the same for the same question, whatever the order of its keys."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON (sorted keys, no spaces), as `sha256:` and 64 hexadecimal digits."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
