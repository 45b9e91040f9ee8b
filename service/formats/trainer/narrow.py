"""8-bit training that accelerate sets up: which library, how it scales, and whether FSDP gathers in 8 bits.

Keys: huggingface/accelerate @ 16cb6eb8 commands/config/config_args.py and utils/dataclasses.py.
"""

from service.formats.config.settings import Settings
from service.formats.draft import Draft

LIBRARIES = {"te": "transformer_engine", "ao": "torchao", "torchao": "torchao", "msamp": "msamp"}


def write_eight_bits(settings: Settings, draft: Draft, *, backend: str = "", gather: str, blocks: str = "") -> None:
    """8 bits are on; the keys name the library, the gathers in 8 bits, and scaling in blocks of 32."""
    if not backend or settings.put_choice("/precision/fp8/backend", LIBRARIES, backend) is None:
        draft.set("/precision/fp8/backend", "torchao", "assumed", "accelerate takes torchao where it is installed")
    engine = draft.get("/precision/fp8/backend") == "transformer_engine"
    if blocks and settings.on(blocks, pointer="/precision/fp8/recipe"):
        draft.set("/precision/fp8/recipe", "mxfp8", settings.origin, settings.where(blocks))
    draft.fill("/precision/fp8/recipe", "delayed" if engine else "current", "default", "accelerate's recipe")
    settings.put_switch("/precision/fp8/all_gather", gather)
