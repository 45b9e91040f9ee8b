"""What a framework's engine and layers do in ways of their own: facts of its profile, so that no formula names one."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Habits:
    """Each holds where a profile or its engine says so (catalog/profiles.toml, with the source).

    Gradients: `gradients_in_buffer`, they are one buffer that is always there; `reduced_in_buffer`, they are summed in
    its type; `reduced_by_unit` and `reduced_by_bucket`, in messages of a unit, or of torch's bucket. Weights:
    `flat_parameters`, a unit is one flat parameter (FSDP1's); `gathered_in_compute`, they are gathered in the type of
    activations; `pooled_streams`, gathers and reductions allocate on streams of their own; `narrow_weights_dropped`, no
    layer keeps 8-bit forms of its weights for the backward.

    Traffic that runs beside the computation: `step_traffic_hidden` what a step sends once, `all_traffic_hidden` what
    every micro-batch sends, `weight_gradients_beside_sums` the sum of an input's gradient beside the weight's.

    Loading: `initialization_known` and `resume_known`, the order of allocations has been read.

    Communicators and pipes: `model_group`, norms are summed over one replica's ranks; `torch_pipelines`, its pipelines
    are those of torch.distributed.pipelining; `logits_gathered`, a loss that is not
    vocabulary-parallel gathers the logits; `gathers_in_buffers`, two buffers stay for what projections gather.

    Layers: `torch_modules` in Megatron's shapes; `queries_pin_all`, a query keeps queries, keys and values;
    `outputs_folded`, the output projection copies several sequences; `output_copied`, the attention's output is kept as
    it leaves the kernel and as it enters the projection; `gathered_inputs_kept`, projections keep what sequence
    parallelism gathered for them; `rotary_gathered`, each token keeps the rows of the rotary tables that it looked up.
    """

    gradients_in_buffer: bool = False
    reduced_in_buffer: bool = False
    reduced_by_unit: bool = False
    reduced_by_bucket: bool = False
    flat_parameters: bool = False
    gathered_in_compute: bool = False
    pooled_streams: bool = False
    narrow_weights_dropped: bool = False
    step_traffic_hidden: bool = False
    all_traffic_hidden: bool = False
    weight_gradients_beside_sums: bool = False
    initialization_known: bool = False
    resume_known: bool = False
    model_group: bool = False
    torch_pipelines: bool = False
    logits_gathered: bool = False
    gathers_in_buffers: bool = False
    torch_modules: bool = False
    queries_pin_all: bool = False
    outputs_folded: bool = False
    output_copied: bool = False
    gathered_inputs_kept: bool = False
    rotary_gathered: bool = False


NO_HABITS = Habits()
