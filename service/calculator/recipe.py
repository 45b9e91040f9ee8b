"""What the framework computes with and keeps in memory, for one job."""

from dataclasses import dataclass, replace
from typing import Literal

from service.calculator.device import Accelerator
from service.calculator.habits import NO_HABITS, Habits
from service.calculator.model import NormForm


@dataclass(frozen=True, slots=True)
class LossRecipe:
    """Copies of the logits that a loss implementation holds, by dtype, at three points.

    `kept` from the loss to the head's backward, `forward` and `backward` at the peaks of the two passes (including
    what is kept); label smoothing adds copies to both peaks, and more than one sequence the `shifted` ones to the
    forward. `chunk_forward` and `chunk_backward` are copies of one of `chunks` parts of the logits, on top; parts may
    also be as many rows as make them no larger than the head's input (`chunks_by_width`). `hidden` and `weight` are
    tensors as large as the head's input and weight that stay from the loss to the head's backward; `hidden_forward`
    and `weight_forward` only the loss has. `compute` stands for the dtype of activations, and `logits` is that of the
    logits a caller keeps.
    Source: memory_model.md, section 4.
    """

    name: str
    kept: tuple[str, ...]
    forward: tuple[str, ...]
    backward: tuple[str, ...]
    smoothing_forward: tuple[str, ...] = ()
    smoothing_backward: tuple[str, ...] = ()
    shifted: tuple[str, ...] = ()
    chunk_forward: tuple[str, ...] = ()
    chunk_backward: tuple[str, ...] = ()
    chunks: int = 1
    chunks_by_width: bool = False
    hidden_forward: tuple[str, ...] = ()
    weight_forward: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    weight: tuple[str, ...] = ()
    logits: str = "compute"
    vocabulary_parallel: bool = True

    @property
    def fused_with_head(self) -> bool:
        """Whether head and loss run together, so that the whole logits never exist."""
        return not self.kept and not self.backward

    def in_compute(self, compute: str) -> "LossRecipe":
        """The recipe with its data types filled in: beside fp32 copies, a cast from fp32 to fp32 makes none."""

        def typed(copies: tuple[str, ...]) -> tuple[str, ...]:
            if compute == "fp32" and "fp32" in copies:
                return tuple(each for each in copies if each != "compute")
            return tuple(compute if each == "compute" else each for each in copies)

        return replace(
            self,
            kept=typed(self.kept),
            forward=typed(self.forward),
            backward=typed(self.backward),
            chunk_forward=typed(self.chunk_forward),
            chunk_backward=typed(self.chunk_backward),
            hidden_forward=typed(self.hidden_forward),
            weight_forward=typed(self.weight_forward),
            hidden=typed(self.hidden),
            weight=typed(self.weight),
        )

    def smoothed(self) -> "LossRecipe":
        """The recipe with label smoothing."""
        return replace(
            self,
            forward=self.forward + self.smoothing_forward,
            backward=self.backward + self.smoothing_backward,
        )

    def with_logits_kept(self) -> "LossRecipe":
        """The recipe when the caller holds the logits through the backward; the loss's peak has them anyway."""
        return replace(
            self,
            kept=(*self.kept, self.logits),
            forward=self.forward if self.logits in self.forward else (*self.forward, self.logits),
            backward=(*self.backward, self.logits),
        )


@dataclass(frozen=True, slots=True)
class Swap:
    """Pinned buffers of host memory through which DeepSpeed reaches disks, and how many weights stay beside them.

    `states` buffers hold a sub-group of states each, `weights` ones `weights_size` elements; `weights_in_cpu` elements
    of weights are kept in host memory. Source: DeepSpeed @ edaa7221 runtime/zero/offload_config.py.
    """

    states: int = 4
    weights: int = 5
    weights_size: int = 100_000_000
    weights_in_cpu: int = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Optimizer:
    """The optimizer, how its step runs, and how much of it lives on the host.

    `implementation` is torch's: one fused kernel, loops over all tensors at once (foreach), or over one tensor at a
    time; `foreach_copies` of what is updated exist at once in the second. `offload_percent` of the master weights and
    moments are in host memory, or on disk with `nvme`; `parameters_on_host` moves the sharded weights there too, or
    with `parameters_on_nvme` to disk, through the buffers of `swap`.
    """

    name: str = "adam"
    implementation: str = "fused"
    foreach_copies: int = 1
    momentum: bool = False
    in_backward: bool = False
    offload_percent: int = 0
    nvme: bool = False
    parameters_on_host: bool = False
    parameters_on_nvme: bool = False
    swap: Swap = Swap()


@dataclass(frozen=True, slots=True)
class Sharding:
    """Buffers and habits of sharded data parallelism; sizes in elements, 0 for none.

    `reduce` and `prefetch` are DeepSpeed's bucket sizes, `live` its cap on gathered weights, `persistence` the size up
    to which a weight stays whole. `reshard` says when FSDP frees gathered weights, `bucket_view` that DDP's gradients
    are views of its buckets, `overlap` that a second bucket fills while the first is reduced, `no_sync` that gradients
    stay whole between micro-batches. `ends_together`: embedding and head are one unit though their weights differ.
    `own_streams`: gathers and reductions make their buffers on streams of their own. Without `adapters_apart`, FSDP1
    flattens a layer's adapters and frozen weights together. `units` names the sharding of Megatron's weights and
    gradients: its own, with two units of each kept for good (`double_buffer`) or as many as the bounds let, or torch's.
    """

    reduce: int = 0
    prefetch: int = 0
    live: int = 0
    persistence: int = 0
    reshard: str = "default"
    bucket_view: bool = True
    overlap: bool = False
    no_sync: bool = False
    ends_together: bool = False
    own_streams: bool = True
    units: Literal["", "megatron_fsdp", "torch_fsdp2"] = ""
    double_buffer: bool = False
    adapters_apart: bool = True


@dataclass(frozen=True, slots=True)
class Fp8:
    """8- or 4-bit training: the scaling recipe, the library, and what of the weights is narrow.

    `parameters` are the weights themselves, `all_gather` their gathers. A weight's narrow form is kept `copies` times:
    a second, transposed one where the GPU's products need it.
    """

    recipe: str
    backend: Literal["transformer_engine", "torchao"] = "transformer_engine"
    parameters: bool = False
    all_gather: bool = False
    copies: int = 2

    def on(self, accelerator: Accelerator) -> "Fp8":
        """The recipe with its copies settled: from Blackwell on, products of tensors with one scale need no transpose.

        Source: TransformerEngine @ d0067d0d, pytorch/tensor/float8_tensor.py, is_non_tn_fp8_gemm_supported.
        """
        whole_tensor = self.recipe in {"delayed", "current"}
        recent = accelerator.architecture.startswith(("sm10", "sm12"))
        return replace(self, copies=1 if whole_tensor and recent else 2)


@dataclass(frozen=True, slots=True)
class Adapters:
    """Low-rank adapters on frozen weights: rank, the linear modules that carry one, and their data type.

    `quantization` is the type of the frozen weights (None: as they are), `trained` the modules trained in full. With
    `dropout` above 0 each adapter reads its input through a dropout of its own. `inputs_kept`: quantised projections
    keep their inputs, though their backward does not need them; they may do so until the next loss replaces the one
    whose graph they belong to (`inputs_outlive_backward`). `experts_stacked`: the weights of a layer's experts are
    one parameter, on which adapters are called `experts.up` and `experts.down`; else each expert has linear modules.
    `split`: both factors are split over the tensor group (Megatron's), whose fused products `qkv` and `gate_up` carry
    one adapter each.
    """

    rank: int
    modules: tuple[str, ...]
    dtype: str
    quantization: str | None = None
    trained: tuple[str, ...] = ()
    dropout: float = 0.0
    inputs_kept: bool = False
    inputs_outlive_backward: bool = False
    experts_stacked: bool = False
    split: bool = False

    def changes(self, module: Literal["up", "down"]) -> bool:
        """Whether stacked weights carry an adapter: those of both branches up, or those down."""
        return f"experts.{module}" in self.modules


@dataclass(frozen=True, slots=True)
class Recipe:
    """Types, kernels and habits of the framework profile, after defaults are filled in.

    `framework` names the engine that keeps the states, and `habits` what it and the layers do otherwise.
    `layers_ahead` is the number of layers that the host launches before the GPU has run them, where blocks wait for the
    streams of collectives.
    """

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
    gradient_copy_kept: bool = False
    gradients_flattened: bool = False
    loading_known: bool = True
    deterministic: bool = False
    attention_mask: bool = True
    framework: str = "megatron-core"
    reduce: str = "fp32"
    autocast: bool = False
    optimizer: Optimizer = Optimizer()
    sharding: Sharding = Sharding()
    fp8: Fp8 | None = None
    adapters: Adapters | None = None
    compiled: bool = False
    traced: bool = False
    keys_repeated: bool = False
    deferred_head: int | None = None
    norm_form: NormForm | None = None
    rope_fused: bool = True
    dispatcher: str = "allgather"
    grouped_gemm: bool = False
    recurrence_fused: bool = True
    habits: Habits = NO_HABITS
    layers_ahead: int = 0

    @property
    def casts_eagerly(self) -> bool:
        """Whether 8-bit products cast their operands in torch's own operations, one after another."""
        return self.fp8 is not None and self.fp8.backend == "torchao" and not self.compiled

    @property
    def runs_engine(self) -> bool:
        """Whether the layers are Transformer Engine's, and not torch modules in Megatron's shapes."""
        return self.transformer_impl == "transformer_engine" and not self.habits.torch_modules

    def trains(self, module: str) -> bool:
        """Whether the embedding's or the head's own weight trains: beside adapters only where they say so."""
        return self.adapters is None or module in self.adapters.trained

    @property
    def scores_stored(self) -> bool:
        """Whether attention keeps its score matrix for the backward."""
        return self.attention in {"unfused", "eager"}

    @property
    def running_weights(self) -> str:
        """The type of the weights while a layer runs: FSDP's mixed precision gathers them in that of activations."""
        return self.compute if self.habits.gathered_in_compute else self.parameters

    def on(self, accelerator: Accelerator) -> "Recipe":
        """The recipe with `auto` attention and the copies of 8-bit weights settled for a GPU.

        Megatron's local layers have only unfused attention. Transformer Engine takes cuDNN's fused kernel on Hopper and
        flash-attn elsewhere: on A100 and GB200 the automatic backend holds exactly flash-attn's copy of the output,
        2Tq bytes a layer, more than on H100 (Megatron-LM CI golden values @ d98e8a64).
        """
        settled = self if self.fp8 is None else replace(self, fp8=self.fp8.on(accelerator))
        if self.attention != "auto":
            return settled
        if self.transformer_impl == "local":
            return replace(settled, attention="unfused")
        return replace(settled, attention="fused" if accelerator.architecture == "sm90" else "flash")
