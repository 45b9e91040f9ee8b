"""What the framework computes with and keeps in memory, for one job."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LossRecipe:
    """Copies of the logits that a loss implementation holds, by dtype, at three points.

    `kept` from the loss to the head's backward, `forward` and `backward` at the peaks of the two passes (including
    what is kept). `compute` stands for the dtype of activations. Source: memory_model.md, section 4.
    """

    name: str
    kept: tuple[str, ...]
    forward: tuple[str, ...]
    backward: tuple[str, ...]
    vocabulary_parallel: bool = True


@dataclass(frozen=True, slots=True)
class Recipe:
    """Types, kernels and habits of the framework profile, after defaults are filled in."""

    profile: str
    transformer_impl: str
    compute: str
    parameters: str
    master: str | None
    gradients: str
    moments: tuple[str, ...]
    attention: str
    loss: LossRecipe
    softmax_fp32: bool = False
    hidden_dropout: float = 0.0
    attention_dropout: float = 0.0
    activation_fused: bool = True
    norm_fused: bool = True
    gradient_accumulation_fusion: bool = True
    deallocate_pipeline_outputs: bool = True
    vocabulary_multiple: int = 128
    buffer_alignment: int = 64
    contiguous_gradients: bool = True
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def scores_stored(self) -> bool:
        """Whether attention keeps its score matrix for the backward."""
        return self.attention in {"unfused", "eager"}
