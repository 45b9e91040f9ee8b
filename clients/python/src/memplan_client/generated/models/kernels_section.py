from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.kernels_section_activation_type_0 import (
    KernelsSectionActivationType0,
    check_kernels_section_activation_type_0,
)
from ..models.kernels_section_attention_type_0 import (
    KernelsSectionAttentionType0,
    check_kernels_section_attention_type_0,
)
from ..models.kernels_section_cross_entropy_type_0 import (
    KernelsSectionCrossEntropyType0,
    check_kernels_section_cross_entropy_type_0,
)
from ..models.kernels_section_experts_type_0 import (
    KernelsSectionExpertsType0,
    check_kernels_section_experts_type_0,
)
from ..models.kernels_section_linear_attention_type_0 import (
    KernelsSectionLinearAttentionType0,
    check_kernels_section_linear_attention_type_0,
)
from ..models.kernels_section_moe_dispatcher_type_0 import (
    KernelsSectionMoeDispatcherType0,
    check_kernels_section_moe_dispatcher_type_0,
)
from ..models.kernels_section_norm_type_0 import (
    KernelsSectionNormType0,
    check_kernels_section_norm_type_0,
)
from ..models.kernels_section_rope_type_0 import (
    KernelsSectionRopeType0,
    check_kernels_section_rope_type_0,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="KernelsSection")


@_attrs_define
class KernelsSection:
    """Implementations that decide what is kept in memory.

    Attributes:
        attention (KernelsSectionAttentionType0 | None | Unset): Attention kernel; `auto` leaves the choice to the
            framework and widens the interval.
        softmax_fp32 (bool | None | Unset): Unfused attention computes its softmax in fp32.
        cross_entropy (KernelsSectionCrossEntropyType0 | None | Unset): Loss recipe: bytes per logit kept, at its
            forward peak and at its backward peak. `chunked` cuts the loss, and the
            head too where the framework's version does; `chunked_head` cuts both.
        cross_entropy_chunks (int | None | Unset): Chunks of a chunked loss.
        logits_kept (bool | None | Unset): The caller keeps the logits through the backward.
        vocab_parallel_loss (bool | None | Unset): Logits stay split over the tensor group in the loss.
        defer_embedding_wgrad (int | None | Unset): Megatron: micro-batches whose head weight gradient is deferred; 0
            means all.
        label_smoothing (bool | None | Unset): The loss smooths its labels.
        norm (KernelsSectionNormType0 | None | Unset): Normalisation kernel.
        activation (KernelsSectionActivationType0 | None | Unset): Activation-function kernel of the MLP.
        rope (KernelsSectionRopeType0 | None | Unset): Rotary embedding kernel.
        compile_ (bool | None | Unset): torch.compile is on.
        grad_accumulation_fusion (bool | None | Unset): Weight gradients are added straight into the accumulation
            buffer.
        deallocate_pipeline_outputs (bool | None | Unset): Stage outputs are freed once sent.
        moe_dispatcher (KernelsSectionMoeDispatcherType0 | None | Unset): How tokens travel to experts.
        grouped_gemm (bool | None | Unset): Experts run as one grouped matrix product.
        experts (KernelsSectionExpertsType0 | None | Unset): transformers: implementation of the experts.
        linear_attention (KernelsSectionLinearAttentionType0 | None | Unset): Linear attention and state-space layers:
            kernels of flash-linear-attention, mamba_ssm and causal_conv1d, or the
            operations that transformers falls back to.
        deterministic (bool | None | Unset): Deterministic algorithms are required.
        cuda_graphs (bool | None | Unset): CUDA graphs are captured.
        expandable_segments (bool | None | Unset): The caching allocator's expandable segments.
    """

    attention: KernelsSectionAttentionType0 | None | Unset = UNSET
    softmax_fp32: bool | None | Unset = UNSET
    cross_entropy: KernelsSectionCrossEntropyType0 | None | Unset = UNSET
    cross_entropy_chunks: int | None | Unset = UNSET
    logits_kept: bool | None | Unset = UNSET
    vocab_parallel_loss: bool | None | Unset = UNSET
    defer_embedding_wgrad: int | None | Unset = UNSET
    label_smoothing: bool | None | Unset = UNSET
    norm: KernelsSectionNormType0 | None | Unset = UNSET
    activation: KernelsSectionActivationType0 | None | Unset = UNSET
    rope: KernelsSectionRopeType0 | None | Unset = UNSET
    compile_: bool | None | Unset = UNSET
    grad_accumulation_fusion: bool | None | Unset = UNSET
    deallocate_pipeline_outputs: bool | None | Unset = UNSET
    moe_dispatcher: KernelsSectionMoeDispatcherType0 | None | Unset = UNSET
    grouped_gemm: bool | None | Unset = UNSET
    experts: KernelsSectionExpertsType0 | None | Unset = UNSET
    linear_attention: KernelsSectionLinearAttentionType0 | None | Unset = UNSET
    deterministic: bool | None | Unset = UNSET
    cuda_graphs: bool | None | Unset = UNSET
    expandable_segments: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        attention: None | str | Unset
        if isinstance(self.attention, Unset):
            attention = UNSET
        elif isinstance(self.attention, str):
            attention = self.attention
        else:
            attention = self.attention

        softmax_fp32: bool | None | Unset
        if isinstance(self.softmax_fp32, Unset):
            softmax_fp32 = UNSET
        else:
            softmax_fp32 = self.softmax_fp32

        cross_entropy: None | str | Unset
        if isinstance(self.cross_entropy, Unset):
            cross_entropy = UNSET
        elif isinstance(self.cross_entropy, str):
            cross_entropy = self.cross_entropy
        else:
            cross_entropy = self.cross_entropy

        cross_entropy_chunks: int | None | Unset
        if isinstance(self.cross_entropy_chunks, Unset):
            cross_entropy_chunks = UNSET
        else:
            cross_entropy_chunks = self.cross_entropy_chunks

        logits_kept: bool | None | Unset
        if isinstance(self.logits_kept, Unset):
            logits_kept = UNSET
        else:
            logits_kept = self.logits_kept

        vocab_parallel_loss: bool | None | Unset
        if isinstance(self.vocab_parallel_loss, Unset):
            vocab_parallel_loss = UNSET
        else:
            vocab_parallel_loss = self.vocab_parallel_loss

        defer_embedding_wgrad: int | None | Unset
        if isinstance(self.defer_embedding_wgrad, Unset):
            defer_embedding_wgrad = UNSET
        else:
            defer_embedding_wgrad = self.defer_embedding_wgrad

        label_smoothing: bool | None | Unset
        if isinstance(self.label_smoothing, Unset):
            label_smoothing = UNSET
        else:
            label_smoothing = self.label_smoothing

        norm: None | str | Unset
        if isinstance(self.norm, Unset):
            norm = UNSET
        elif isinstance(self.norm, str):
            norm = self.norm
        else:
            norm = self.norm

        activation: None | str | Unset
        if isinstance(self.activation, Unset):
            activation = UNSET
        elif isinstance(self.activation, str):
            activation = self.activation
        else:
            activation = self.activation

        rope: None | str | Unset
        if isinstance(self.rope, Unset):
            rope = UNSET
        elif isinstance(self.rope, str):
            rope = self.rope
        else:
            rope = self.rope

        compile_: bool | None | Unset
        if isinstance(self.compile_, Unset):
            compile_ = UNSET
        else:
            compile_ = self.compile_

        grad_accumulation_fusion: bool | None | Unset
        if isinstance(self.grad_accumulation_fusion, Unset):
            grad_accumulation_fusion = UNSET
        else:
            grad_accumulation_fusion = self.grad_accumulation_fusion

        deallocate_pipeline_outputs: bool | None | Unset
        if isinstance(self.deallocate_pipeline_outputs, Unset):
            deallocate_pipeline_outputs = UNSET
        else:
            deallocate_pipeline_outputs = self.deallocate_pipeline_outputs

        moe_dispatcher: None | str | Unset
        if isinstance(self.moe_dispatcher, Unset):
            moe_dispatcher = UNSET
        elif isinstance(self.moe_dispatcher, str):
            moe_dispatcher = self.moe_dispatcher
        else:
            moe_dispatcher = self.moe_dispatcher

        grouped_gemm: bool | None | Unset
        if isinstance(self.grouped_gemm, Unset):
            grouped_gemm = UNSET
        else:
            grouped_gemm = self.grouped_gemm

        experts: None | str | Unset
        if isinstance(self.experts, Unset):
            experts = UNSET
        elif isinstance(self.experts, str):
            experts = self.experts
        else:
            experts = self.experts

        linear_attention: None | str | Unset
        if isinstance(self.linear_attention, Unset):
            linear_attention = UNSET
        elif isinstance(self.linear_attention, str):
            linear_attention = self.linear_attention
        else:
            linear_attention = self.linear_attention

        deterministic: bool | None | Unset
        if isinstance(self.deterministic, Unset):
            deterministic = UNSET
        else:
            deterministic = self.deterministic

        cuda_graphs: bool | None | Unset
        if isinstance(self.cuda_graphs, Unset):
            cuda_graphs = UNSET
        else:
            cuda_graphs = self.cuda_graphs

        expandable_segments: bool | None | Unset
        if isinstance(self.expandable_segments, Unset):
            expandable_segments = UNSET
        else:
            expandable_segments = self.expandable_segments

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if attention is not UNSET:
            field_dict["attention"] = attention
        if softmax_fp32 is not UNSET:
            field_dict["softmax_fp32"] = softmax_fp32
        if cross_entropy is not UNSET:
            field_dict["cross_entropy"] = cross_entropy
        if cross_entropy_chunks is not UNSET:
            field_dict["cross_entropy_chunks"] = cross_entropy_chunks
        if logits_kept is not UNSET:
            field_dict["logits_kept"] = logits_kept
        if vocab_parallel_loss is not UNSET:
            field_dict["vocab_parallel_loss"] = vocab_parallel_loss
        if defer_embedding_wgrad is not UNSET:
            field_dict["defer_embedding_wgrad"] = defer_embedding_wgrad
        if label_smoothing is not UNSET:
            field_dict["label_smoothing"] = label_smoothing
        if norm is not UNSET:
            field_dict["norm"] = norm
        if activation is not UNSET:
            field_dict["activation"] = activation
        if rope is not UNSET:
            field_dict["rope"] = rope
        if compile_ is not UNSET:
            field_dict["compile"] = compile_
        if grad_accumulation_fusion is not UNSET:
            field_dict["grad_accumulation_fusion"] = grad_accumulation_fusion
        if deallocate_pipeline_outputs is not UNSET:
            field_dict["deallocate_pipeline_outputs"] = deallocate_pipeline_outputs
        if moe_dispatcher is not UNSET:
            field_dict["moe_dispatcher"] = moe_dispatcher
        if grouped_gemm is not UNSET:
            field_dict["grouped_gemm"] = grouped_gemm
        if experts is not UNSET:
            field_dict["experts"] = experts
        if linear_attention is not UNSET:
            field_dict["linear_attention"] = linear_attention
        if deterministic is not UNSET:
            field_dict["deterministic"] = deterministic
        if cuda_graphs is not UNSET:
            field_dict["cuda_graphs"] = cuda_graphs
        if expandable_segments is not UNSET:
            field_dict["expandable_segments"] = expandable_segments

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_attention(
            data: object,
        ) -> KernelsSectionAttentionType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                attention_type_0 = check_kernels_section_attention_type_0(data)

                return attention_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(KernelsSectionAttentionType0 | None | Unset, data)

        attention = _parse_attention(d.pop("attention", UNSET))

        def _parse_softmax_fp32(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        softmax_fp32 = _parse_softmax_fp32(d.pop("softmax_fp32", UNSET))

        def _parse_cross_entropy(
            data: object,
        ) -> KernelsSectionCrossEntropyType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                cross_entropy_type_0 = check_kernels_section_cross_entropy_type_0(data)

                return cross_entropy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(KernelsSectionCrossEntropyType0 | None | Unset, data)

        cross_entropy = _parse_cross_entropy(d.pop("cross_entropy", UNSET))

        def _parse_cross_entropy_chunks(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        cross_entropy_chunks = _parse_cross_entropy_chunks(
            d.pop("cross_entropy_chunks", UNSET)
        )

        def _parse_logits_kept(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        logits_kept = _parse_logits_kept(d.pop("logits_kept", UNSET))

        def _parse_vocab_parallel_loss(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        vocab_parallel_loss = _parse_vocab_parallel_loss(
            d.pop("vocab_parallel_loss", UNSET)
        )

        def _parse_defer_embedding_wgrad(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        defer_embedding_wgrad = _parse_defer_embedding_wgrad(
            d.pop("defer_embedding_wgrad", UNSET)
        )

        def _parse_label_smoothing(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        label_smoothing = _parse_label_smoothing(d.pop("label_smoothing", UNSET))

        def _parse_norm(data: object) -> KernelsSectionNormType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                norm_type_0 = check_kernels_section_norm_type_0(data)

                return norm_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(KernelsSectionNormType0 | None | Unset, data)

        norm = _parse_norm(d.pop("norm", UNSET))

        def _parse_activation(
            data: object,
        ) -> KernelsSectionActivationType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                activation_type_0 = check_kernels_section_activation_type_0(data)

                return activation_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(KernelsSectionActivationType0 | None | Unset, data)

        activation = _parse_activation(d.pop("activation", UNSET))

        def _parse_rope(data: object) -> KernelsSectionRopeType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                rope_type_0 = check_kernels_section_rope_type_0(data)

                return rope_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(KernelsSectionRopeType0 | None | Unset, data)

        rope = _parse_rope(d.pop("rope", UNSET))

        def _parse_compile_(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        compile_ = _parse_compile_(d.pop("compile", UNSET))

        def _parse_grad_accumulation_fusion(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        grad_accumulation_fusion = _parse_grad_accumulation_fusion(
            d.pop("grad_accumulation_fusion", UNSET)
        )

        def _parse_deallocate_pipeline_outputs(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        deallocate_pipeline_outputs = _parse_deallocate_pipeline_outputs(
            d.pop("deallocate_pipeline_outputs", UNSET)
        )

        def _parse_moe_dispatcher(
            data: object,
        ) -> KernelsSectionMoeDispatcherType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                moe_dispatcher_type_0 = check_kernels_section_moe_dispatcher_type_0(
                    data
                )

                return moe_dispatcher_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(KernelsSectionMoeDispatcherType0 | None | Unset, data)

        moe_dispatcher = _parse_moe_dispatcher(d.pop("moe_dispatcher", UNSET))

        def _parse_grouped_gemm(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        grouped_gemm = _parse_grouped_gemm(d.pop("grouped_gemm", UNSET))

        def _parse_experts(data: object) -> KernelsSectionExpertsType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                experts_type_0 = check_kernels_section_experts_type_0(data)

                return experts_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(KernelsSectionExpertsType0 | None | Unset, data)

        experts = _parse_experts(d.pop("experts", UNSET))

        def _parse_linear_attention(
            data: object,
        ) -> KernelsSectionLinearAttentionType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                linear_attention_type_0 = check_kernels_section_linear_attention_type_0(
                    data
                )

                return linear_attention_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(KernelsSectionLinearAttentionType0 | None | Unset, data)

        linear_attention = _parse_linear_attention(d.pop("linear_attention", UNSET))

        def _parse_deterministic(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        deterministic = _parse_deterministic(d.pop("deterministic", UNSET))

        def _parse_cuda_graphs(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        cuda_graphs = _parse_cuda_graphs(d.pop("cuda_graphs", UNSET))

        def _parse_expandable_segments(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        expandable_segments = _parse_expandable_segments(
            d.pop("expandable_segments", UNSET)
        )

        kernels_section = cls(
            attention=attention,
            softmax_fp32=softmax_fp32,
            cross_entropy=cross_entropy,
            cross_entropy_chunks=cross_entropy_chunks,
            logits_kept=logits_kept,
            vocab_parallel_loss=vocab_parallel_loss,
            defer_embedding_wgrad=defer_embedding_wgrad,
            label_smoothing=label_smoothing,
            norm=norm,
            activation=activation,
            rope=rope,
            compile_=compile_,
            grad_accumulation_fusion=grad_accumulation_fusion,
            deallocate_pipeline_outputs=deallocate_pipeline_outputs,
            moe_dispatcher=moe_dispatcher,
            grouped_gemm=grouped_gemm,
            experts=experts,
            linear_attention=linear_attention,
            deterministic=deterministic,
            cuda_graphs=cuda_graphs,
            expandable_segments=expandable_segments,
        )

        return kernels_section
