from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.model_section_mlp_type_0 import (
    ModelSectionMlpType0,
    check_model_section_mlp_type_0,
)
from ..models.model_section_normalization_type_0 import (
    ModelSectionNormalizationType0,
    check_model_section_normalization_type_0,
)
from ..models.model_section_norms_per_layer_type_0 import (
    ModelSectionNormsPerLayerType0,
    check_model_section_norms_per_layer_type_0,
)
from ..models.model_section_position_embedding_type_0 import (
    ModelSectionPositionEmbeddingType0,
    check_model_section_position_embedding_type_0,
)
from ..models.model_section_qk_norm_type_0 import (
    ModelSectionQkNormType0,
    check_model_section_qk_norm_type_0,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="ModelSection")


@_attrs_define
class ModelSection:
    """Dimensions of the architecture, spelled as in a Hugging Face `config.json`, or a preset's name.

    Attributes:
        preset (None | str | Unset): Name of a preset from `GET /v1/models`; other keys of this object override it.
        model_type (None | str | Unset): Hugging Face model type; decides what absent keys mean. `custom` implies
            nothing.
        hidden_size (int | None | Unset): Width of the residual stream (elements).
        num_hidden_layers (int | None | Unset): Number of decoder layers.
        num_attention_heads (int | None | Unset): Number of query heads.
        num_key_value_heads (int | None | Unset): Number of key and value heads (groups); equals the query heads for
            multi-head attention.
        head_dim (int | None | Unset): Width of one head (elements); need not be hidden_size / num_attention_heads.
        intermediate_size (int | None | Unset): Width of one branch of the dense MLP (elements).
        vocab_size (int | None | Unset): Number of tokens before any padding by the framework.
        max_position_embeddings (int | None | Unset): Longest position; a limit, not the training length. Learned
            positions have one row for each.
        tie_word_embeddings (bool | None | Unset): Whether the output head shares the embedding's weight.
        hidden_act (None | str | Unset): Hugging Face activation name; with `model_type` it decides `mlp`.
        attention_bias (bool | None | Unset): Hugging Face: biases on the query, key, value and output projections.
        sliding_window (int | None | Unset): Attention window (tokens); null means the whole sequence.
        layer_types (list[str] | None | Unset): Kind of each layer, in order, as in a Hugging Face config.
        num_experts (int | None | Unset): Number of routed experts.
        num_experts_per_tok (int | None | Unset): Experts that each token is sent to (top-k).
        moe_intermediate_size (int | None | Unset): Width of one branch of a routed expert (elements); absent means
            intermediate_size.
        n_shared_experts (int | None | Unset): Number of shared experts, each as wide as a routed one.
        shared_expert_intermediate_size (int | None | Unset): Total width of the shared experts (elements).
        first_k_dense_replace (int | None | Unset): Number of leading layers that are dense.
        moe_layer_freq (int | None | Unset): Every n-th layer is a mixture of experts.
        decoder_sparse_step (int | None | Unset): Qwen's spelling: every n-th layer is a mixture of experts.
        mlp_only_layers (list[int] | None | Unset): Indexes of layers that stay dense.
        moe_layer_pattern (list[int] | None | Unset): One entry per layer: 1 for a mixture of experts, 0 for dense.
        q_lora_rank (int | None | Unset): Multi-head latent attention: rank of the query latent; null or 0 means none.
        kv_lora_rank (int | None | Unset): Multi-head latent attention: rank of the key/value latent.
        qk_nope_head_dim (int | None | Unset): Multi-head latent attention: width of a head's part without rotary
            embedding.
        qk_rope_head_dim (int | None | Unset): Multi-head latent attention: width of a head's rotary part.
        v_head_dim (int | None | Unset): Multi-head latent attention: width of a value head.
        num_nextn_predict_layers (int | None | Unset): Depth of multi-token prediction.
        mtp_shared_layer (bool | None | Unset): All multi-token prediction depths share one layer.
        layers_block_type (list[str] | None | Unset): Hybrid models: kind of each layer (`mamba`, `attention`, …).
        mamba_d_state (int | None | Unset): Mamba-2: width of the state.
        mamba_d_conv (int | None | Unset): Mamba-2: width of the convolution (tokens).
        mamba_expand (int | None | Unset): Mamba-2: inner width in multiples of hidden_size.
        mamba_n_groups (int | None | Unset): Mamba-2: number of groups.
        mamba_n_heads (int | None | Unset): Mamba-2: number of heads.
        mamba_d_head (int | None | Unset): Mamba-2: width of one head.
        full_attention_interval (int | None | Unset): Every n-th layer is full attention, the others linear;
            `layer_types` says it layer by layer.
        linear_num_key_heads (int | None | Unset): Linear attention (gated delta net): number of key heads, and of query
            heads.
        linear_num_value_heads (int | None | Unset): Linear attention: number of value heads, a multiple of the key
            heads.
        linear_key_head_dim (int | None | Unset): Linear attention: width of one key head.
        linear_value_head_dim (int | None | Unset): Linear attention: width of one value head.
        linear_conv_kernel_dim (int | None | Unset): Linear attention: width of the convolution (tokens).
        attn_output_gate (bool | None | Unset): The query projection is twice as wide, and the sigmoid of its second
            half multiplies the attention's output.
        normalization (ModelSectionNormalizationType0 | None | Unset): Kind of normalisation; LayerNorm has a bias and a
            mean.
        norms_per_layer (ModelSectionNormsPerLayerType0 | None | Unset): Normalisations in each layer; 4 for a sandwich,
            1 where both halves of a parallel layer read one.
        norm_bias (bool | None | Unset): Whether a LayerNorm has a bias; null means that it has.
        embedding_norm (bool | None | Unset): A normalisation behind the embedding (BLOOM).
        word_embed_proj_dim (int | None | Unset): OPT: width of the embedding where it is not hidden_size; projections
            lead from it and back.
        do_layer_norm_before (bool | None | Unset): OPT: false puts norms behind the residual, and leaves the last one
            out.
        mlp (ModelSectionMlpType0 | None | Unset): Shape of the dense MLP: gated (`swiglu`, `geglu`) or not.
        position_embedding (ModelSectionPositionEmbeddingType0 | None | Unset): How positions enter; `learned` adds
            max_position_embeddings x hidden_size parameters.
        qk_norm (ModelSectionQkNormType0 | None | Unset): Normalisation of queries and keys: over one head's width or
            over the full width.
        qkv_bias (bool | None | Unset): Bias on the query, key and value projections.
        output_bias (bool | None | Unset): Bias on the attention's output projection.
        mlp_bias (bool | None | Unset): Bias on the MLP's projections.
        linear_bias (bool | None | Unset): Sets qkv_bias, output_bias and mlp_bias together.
        parallel_residual (bool | None | Unset): Attention and MLP read the same input (GPT-NeoX).
    """

    preset: None | str | Unset = UNSET
    model_type: None | str | Unset = UNSET
    hidden_size: int | None | Unset = UNSET
    num_hidden_layers: int | None | Unset = UNSET
    num_attention_heads: int | None | Unset = UNSET
    num_key_value_heads: int | None | Unset = UNSET
    head_dim: int | None | Unset = UNSET
    intermediate_size: int | None | Unset = UNSET
    vocab_size: int | None | Unset = UNSET
    max_position_embeddings: int | None | Unset = UNSET
    tie_word_embeddings: bool | None | Unset = UNSET
    hidden_act: None | str | Unset = UNSET
    attention_bias: bool | None | Unset = UNSET
    sliding_window: int | None | Unset = UNSET
    layer_types: list[str] | None | Unset = UNSET
    num_experts: int | None | Unset = UNSET
    num_experts_per_tok: int | None | Unset = UNSET
    moe_intermediate_size: int | None | Unset = UNSET
    n_shared_experts: int | None | Unset = UNSET
    shared_expert_intermediate_size: int | None | Unset = UNSET
    first_k_dense_replace: int | None | Unset = UNSET
    moe_layer_freq: int | None | Unset = UNSET
    decoder_sparse_step: int | None | Unset = UNSET
    mlp_only_layers: list[int] | None | Unset = UNSET
    moe_layer_pattern: list[int] | None | Unset = UNSET
    q_lora_rank: int | None | Unset = UNSET
    kv_lora_rank: int | None | Unset = UNSET
    qk_nope_head_dim: int | None | Unset = UNSET
    qk_rope_head_dim: int | None | Unset = UNSET
    v_head_dim: int | None | Unset = UNSET
    num_nextn_predict_layers: int | None | Unset = UNSET
    mtp_shared_layer: bool | None | Unset = UNSET
    layers_block_type: list[str] | None | Unset = UNSET
    mamba_d_state: int | None | Unset = UNSET
    mamba_d_conv: int | None | Unset = UNSET
    mamba_expand: int | None | Unset = UNSET
    mamba_n_groups: int | None | Unset = UNSET
    mamba_n_heads: int | None | Unset = UNSET
    mamba_d_head: int | None | Unset = UNSET
    full_attention_interval: int | None | Unset = UNSET
    linear_num_key_heads: int | None | Unset = UNSET
    linear_num_value_heads: int | None | Unset = UNSET
    linear_key_head_dim: int | None | Unset = UNSET
    linear_value_head_dim: int | None | Unset = UNSET
    linear_conv_kernel_dim: int | None | Unset = UNSET
    attn_output_gate: bool | None | Unset = UNSET
    normalization: ModelSectionNormalizationType0 | None | Unset = UNSET
    norms_per_layer: ModelSectionNormsPerLayerType0 | None | Unset = UNSET
    norm_bias: bool | None | Unset = UNSET
    embedding_norm: bool | None | Unset = UNSET
    word_embed_proj_dim: int | None | Unset = UNSET
    do_layer_norm_before: bool | None | Unset = UNSET
    mlp: ModelSectionMlpType0 | None | Unset = UNSET
    position_embedding: ModelSectionPositionEmbeddingType0 | None | Unset = UNSET
    qk_norm: ModelSectionQkNormType0 | None | Unset = UNSET
    qkv_bias: bool | None | Unset = UNSET
    output_bias: bool | None | Unset = UNSET
    mlp_bias: bool | None | Unset = UNSET
    linear_bias: bool | None | Unset = UNSET
    parallel_residual: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        preset: None | str | Unset
        if isinstance(self.preset, Unset):
            preset = UNSET
        else:
            preset = self.preset

        model_type: None | str | Unset
        if isinstance(self.model_type, Unset):
            model_type = UNSET
        else:
            model_type = self.model_type

        hidden_size: int | None | Unset
        if isinstance(self.hidden_size, Unset):
            hidden_size = UNSET
        else:
            hidden_size = self.hidden_size

        num_hidden_layers: int | None | Unset
        if isinstance(self.num_hidden_layers, Unset):
            num_hidden_layers = UNSET
        else:
            num_hidden_layers = self.num_hidden_layers

        num_attention_heads: int | None | Unset
        if isinstance(self.num_attention_heads, Unset):
            num_attention_heads = UNSET
        else:
            num_attention_heads = self.num_attention_heads

        num_key_value_heads: int | None | Unset
        if isinstance(self.num_key_value_heads, Unset):
            num_key_value_heads = UNSET
        else:
            num_key_value_heads = self.num_key_value_heads

        head_dim: int | None | Unset
        if isinstance(self.head_dim, Unset):
            head_dim = UNSET
        else:
            head_dim = self.head_dim

        intermediate_size: int | None | Unset
        if isinstance(self.intermediate_size, Unset):
            intermediate_size = UNSET
        else:
            intermediate_size = self.intermediate_size

        vocab_size: int | None | Unset
        if isinstance(self.vocab_size, Unset):
            vocab_size = UNSET
        else:
            vocab_size = self.vocab_size

        max_position_embeddings: int | None | Unset
        if isinstance(self.max_position_embeddings, Unset):
            max_position_embeddings = UNSET
        else:
            max_position_embeddings = self.max_position_embeddings

        tie_word_embeddings: bool | None | Unset
        if isinstance(self.tie_word_embeddings, Unset):
            tie_word_embeddings = UNSET
        else:
            tie_word_embeddings = self.tie_word_embeddings

        hidden_act: None | str | Unset
        if isinstance(self.hidden_act, Unset):
            hidden_act = UNSET
        else:
            hidden_act = self.hidden_act

        attention_bias: bool | None | Unset
        if isinstance(self.attention_bias, Unset):
            attention_bias = UNSET
        else:
            attention_bias = self.attention_bias

        sliding_window: int | None | Unset
        if isinstance(self.sliding_window, Unset):
            sliding_window = UNSET
        else:
            sliding_window = self.sliding_window

        layer_types: list[str] | None | Unset
        if isinstance(self.layer_types, Unset):
            layer_types = UNSET
        elif isinstance(self.layer_types, list):
            layer_types = self.layer_types

        else:
            layer_types = self.layer_types

        num_experts: int | None | Unset
        if isinstance(self.num_experts, Unset):
            num_experts = UNSET
        else:
            num_experts = self.num_experts

        num_experts_per_tok: int | None | Unset
        if isinstance(self.num_experts_per_tok, Unset):
            num_experts_per_tok = UNSET
        else:
            num_experts_per_tok = self.num_experts_per_tok

        moe_intermediate_size: int | None | Unset
        if isinstance(self.moe_intermediate_size, Unset):
            moe_intermediate_size = UNSET
        else:
            moe_intermediate_size = self.moe_intermediate_size

        n_shared_experts: int | None | Unset
        if isinstance(self.n_shared_experts, Unset):
            n_shared_experts = UNSET
        else:
            n_shared_experts = self.n_shared_experts

        shared_expert_intermediate_size: int | None | Unset
        if isinstance(self.shared_expert_intermediate_size, Unset):
            shared_expert_intermediate_size = UNSET
        else:
            shared_expert_intermediate_size = self.shared_expert_intermediate_size

        first_k_dense_replace: int | None | Unset
        if isinstance(self.first_k_dense_replace, Unset):
            first_k_dense_replace = UNSET
        else:
            first_k_dense_replace = self.first_k_dense_replace

        moe_layer_freq: int | None | Unset
        if isinstance(self.moe_layer_freq, Unset):
            moe_layer_freq = UNSET
        else:
            moe_layer_freq = self.moe_layer_freq

        decoder_sparse_step: int | None | Unset
        if isinstance(self.decoder_sparse_step, Unset):
            decoder_sparse_step = UNSET
        else:
            decoder_sparse_step = self.decoder_sparse_step

        mlp_only_layers: list[int] | None | Unset
        if isinstance(self.mlp_only_layers, Unset):
            mlp_only_layers = UNSET
        elif isinstance(self.mlp_only_layers, list):
            mlp_only_layers = self.mlp_only_layers

        else:
            mlp_only_layers = self.mlp_only_layers

        moe_layer_pattern: list[int] | None | Unset
        if isinstance(self.moe_layer_pattern, Unset):
            moe_layer_pattern = UNSET
        elif isinstance(self.moe_layer_pattern, list):
            moe_layer_pattern = self.moe_layer_pattern

        else:
            moe_layer_pattern = self.moe_layer_pattern

        q_lora_rank: int | None | Unset
        if isinstance(self.q_lora_rank, Unset):
            q_lora_rank = UNSET
        else:
            q_lora_rank = self.q_lora_rank

        kv_lora_rank: int | None | Unset
        if isinstance(self.kv_lora_rank, Unset):
            kv_lora_rank = UNSET
        else:
            kv_lora_rank = self.kv_lora_rank

        qk_nope_head_dim: int | None | Unset
        if isinstance(self.qk_nope_head_dim, Unset):
            qk_nope_head_dim = UNSET
        else:
            qk_nope_head_dim = self.qk_nope_head_dim

        qk_rope_head_dim: int | None | Unset
        if isinstance(self.qk_rope_head_dim, Unset):
            qk_rope_head_dim = UNSET
        else:
            qk_rope_head_dim = self.qk_rope_head_dim

        v_head_dim: int | None | Unset
        if isinstance(self.v_head_dim, Unset):
            v_head_dim = UNSET
        else:
            v_head_dim = self.v_head_dim

        num_nextn_predict_layers: int | None | Unset
        if isinstance(self.num_nextn_predict_layers, Unset):
            num_nextn_predict_layers = UNSET
        else:
            num_nextn_predict_layers = self.num_nextn_predict_layers

        mtp_shared_layer: bool | None | Unset
        if isinstance(self.mtp_shared_layer, Unset):
            mtp_shared_layer = UNSET
        else:
            mtp_shared_layer = self.mtp_shared_layer

        layers_block_type: list[str] | None | Unset
        if isinstance(self.layers_block_type, Unset):
            layers_block_type = UNSET
        elif isinstance(self.layers_block_type, list):
            layers_block_type = self.layers_block_type

        else:
            layers_block_type = self.layers_block_type

        mamba_d_state: int | None | Unset
        if isinstance(self.mamba_d_state, Unset):
            mamba_d_state = UNSET
        else:
            mamba_d_state = self.mamba_d_state

        mamba_d_conv: int | None | Unset
        if isinstance(self.mamba_d_conv, Unset):
            mamba_d_conv = UNSET
        else:
            mamba_d_conv = self.mamba_d_conv

        mamba_expand: int | None | Unset
        if isinstance(self.mamba_expand, Unset):
            mamba_expand = UNSET
        else:
            mamba_expand = self.mamba_expand

        mamba_n_groups: int | None | Unset
        if isinstance(self.mamba_n_groups, Unset):
            mamba_n_groups = UNSET
        else:
            mamba_n_groups = self.mamba_n_groups

        mamba_n_heads: int | None | Unset
        if isinstance(self.mamba_n_heads, Unset):
            mamba_n_heads = UNSET
        else:
            mamba_n_heads = self.mamba_n_heads

        mamba_d_head: int | None | Unset
        if isinstance(self.mamba_d_head, Unset):
            mamba_d_head = UNSET
        else:
            mamba_d_head = self.mamba_d_head

        full_attention_interval: int | None | Unset
        if isinstance(self.full_attention_interval, Unset):
            full_attention_interval = UNSET
        else:
            full_attention_interval = self.full_attention_interval

        linear_num_key_heads: int | None | Unset
        if isinstance(self.linear_num_key_heads, Unset):
            linear_num_key_heads = UNSET
        else:
            linear_num_key_heads = self.linear_num_key_heads

        linear_num_value_heads: int | None | Unset
        if isinstance(self.linear_num_value_heads, Unset):
            linear_num_value_heads = UNSET
        else:
            linear_num_value_heads = self.linear_num_value_heads

        linear_key_head_dim: int | None | Unset
        if isinstance(self.linear_key_head_dim, Unset):
            linear_key_head_dim = UNSET
        else:
            linear_key_head_dim = self.linear_key_head_dim

        linear_value_head_dim: int | None | Unset
        if isinstance(self.linear_value_head_dim, Unset):
            linear_value_head_dim = UNSET
        else:
            linear_value_head_dim = self.linear_value_head_dim

        linear_conv_kernel_dim: int | None | Unset
        if isinstance(self.linear_conv_kernel_dim, Unset):
            linear_conv_kernel_dim = UNSET
        else:
            linear_conv_kernel_dim = self.linear_conv_kernel_dim

        attn_output_gate: bool | None | Unset
        if isinstance(self.attn_output_gate, Unset):
            attn_output_gate = UNSET
        else:
            attn_output_gate = self.attn_output_gate

        normalization: None | str | Unset
        if isinstance(self.normalization, Unset):
            normalization = UNSET
        elif isinstance(self.normalization, str):
            normalization = self.normalization
        else:
            normalization = self.normalization

        norms_per_layer: int | None | Unset
        if isinstance(self.norms_per_layer, Unset):
            norms_per_layer = UNSET
        elif isinstance(self.norms_per_layer, int):
            norms_per_layer = self.norms_per_layer
        else:
            norms_per_layer = self.norms_per_layer

        norm_bias: bool | None | Unset
        if isinstance(self.norm_bias, Unset):
            norm_bias = UNSET
        else:
            norm_bias = self.norm_bias

        embedding_norm: bool | None | Unset
        if isinstance(self.embedding_norm, Unset):
            embedding_norm = UNSET
        else:
            embedding_norm = self.embedding_norm

        word_embed_proj_dim: int | None | Unset
        if isinstance(self.word_embed_proj_dim, Unset):
            word_embed_proj_dim = UNSET
        else:
            word_embed_proj_dim = self.word_embed_proj_dim

        do_layer_norm_before: bool | None | Unset
        if isinstance(self.do_layer_norm_before, Unset):
            do_layer_norm_before = UNSET
        else:
            do_layer_norm_before = self.do_layer_norm_before

        mlp: None | str | Unset
        if isinstance(self.mlp, Unset):
            mlp = UNSET
        elif isinstance(self.mlp, str):
            mlp = self.mlp
        else:
            mlp = self.mlp

        position_embedding: None | str | Unset
        if isinstance(self.position_embedding, Unset):
            position_embedding = UNSET
        elif isinstance(self.position_embedding, str):
            position_embedding = self.position_embedding
        else:
            position_embedding = self.position_embedding

        qk_norm: None | str | Unset
        if isinstance(self.qk_norm, Unset):
            qk_norm = UNSET
        elif isinstance(self.qk_norm, str):
            qk_norm = self.qk_norm
        else:
            qk_norm = self.qk_norm

        qkv_bias: bool | None | Unset
        if isinstance(self.qkv_bias, Unset):
            qkv_bias = UNSET
        else:
            qkv_bias = self.qkv_bias

        output_bias: bool | None | Unset
        if isinstance(self.output_bias, Unset):
            output_bias = UNSET
        else:
            output_bias = self.output_bias

        mlp_bias: bool | None | Unset
        if isinstance(self.mlp_bias, Unset):
            mlp_bias = UNSET
        else:
            mlp_bias = self.mlp_bias

        linear_bias: bool | None | Unset
        if isinstance(self.linear_bias, Unset):
            linear_bias = UNSET
        else:
            linear_bias = self.linear_bias

        parallel_residual: bool | None | Unset
        if isinstance(self.parallel_residual, Unset):
            parallel_residual = UNSET
        else:
            parallel_residual = self.parallel_residual

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if preset is not UNSET:
            field_dict["preset"] = preset
        if model_type is not UNSET:
            field_dict["model_type"] = model_type
        if hidden_size is not UNSET:
            field_dict["hidden_size"] = hidden_size
        if num_hidden_layers is not UNSET:
            field_dict["num_hidden_layers"] = num_hidden_layers
        if num_attention_heads is not UNSET:
            field_dict["num_attention_heads"] = num_attention_heads
        if num_key_value_heads is not UNSET:
            field_dict["num_key_value_heads"] = num_key_value_heads
        if head_dim is not UNSET:
            field_dict["head_dim"] = head_dim
        if intermediate_size is not UNSET:
            field_dict["intermediate_size"] = intermediate_size
        if vocab_size is not UNSET:
            field_dict["vocab_size"] = vocab_size
        if max_position_embeddings is not UNSET:
            field_dict["max_position_embeddings"] = max_position_embeddings
        if tie_word_embeddings is not UNSET:
            field_dict["tie_word_embeddings"] = tie_word_embeddings
        if hidden_act is not UNSET:
            field_dict["hidden_act"] = hidden_act
        if attention_bias is not UNSET:
            field_dict["attention_bias"] = attention_bias
        if sliding_window is not UNSET:
            field_dict["sliding_window"] = sliding_window
        if layer_types is not UNSET:
            field_dict["layer_types"] = layer_types
        if num_experts is not UNSET:
            field_dict["num_experts"] = num_experts
        if num_experts_per_tok is not UNSET:
            field_dict["num_experts_per_tok"] = num_experts_per_tok
        if moe_intermediate_size is not UNSET:
            field_dict["moe_intermediate_size"] = moe_intermediate_size
        if n_shared_experts is not UNSET:
            field_dict["n_shared_experts"] = n_shared_experts
        if shared_expert_intermediate_size is not UNSET:
            field_dict["shared_expert_intermediate_size"] = (
                shared_expert_intermediate_size
            )
        if first_k_dense_replace is not UNSET:
            field_dict["first_k_dense_replace"] = first_k_dense_replace
        if moe_layer_freq is not UNSET:
            field_dict["moe_layer_freq"] = moe_layer_freq
        if decoder_sparse_step is not UNSET:
            field_dict["decoder_sparse_step"] = decoder_sparse_step
        if mlp_only_layers is not UNSET:
            field_dict["mlp_only_layers"] = mlp_only_layers
        if moe_layer_pattern is not UNSET:
            field_dict["moe_layer_pattern"] = moe_layer_pattern
        if q_lora_rank is not UNSET:
            field_dict["q_lora_rank"] = q_lora_rank
        if kv_lora_rank is not UNSET:
            field_dict["kv_lora_rank"] = kv_lora_rank
        if qk_nope_head_dim is not UNSET:
            field_dict["qk_nope_head_dim"] = qk_nope_head_dim
        if qk_rope_head_dim is not UNSET:
            field_dict["qk_rope_head_dim"] = qk_rope_head_dim
        if v_head_dim is not UNSET:
            field_dict["v_head_dim"] = v_head_dim
        if num_nextn_predict_layers is not UNSET:
            field_dict["num_nextn_predict_layers"] = num_nextn_predict_layers
        if mtp_shared_layer is not UNSET:
            field_dict["mtp_shared_layer"] = mtp_shared_layer
        if layers_block_type is not UNSET:
            field_dict["layers_block_type"] = layers_block_type
        if mamba_d_state is not UNSET:
            field_dict["mamba_d_state"] = mamba_d_state
        if mamba_d_conv is not UNSET:
            field_dict["mamba_d_conv"] = mamba_d_conv
        if mamba_expand is not UNSET:
            field_dict["mamba_expand"] = mamba_expand
        if mamba_n_groups is not UNSET:
            field_dict["mamba_n_groups"] = mamba_n_groups
        if mamba_n_heads is not UNSET:
            field_dict["mamba_n_heads"] = mamba_n_heads
        if mamba_d_head is not UNSET:
            field_dict["mamba_d_head"] = mamba_d_head
        if full_attention_interval is not UNSET:
            field_dict["full_attention_interval"] = full_attention_interval
        if linear_num_key_heads is not UNSET:
            field_dict["linear_num_key_heads"] = linear_num_key_heads
        if linear_num_value_heads is not UNSET:
            field_dict["linear_num_value_heads"] = linear_num_value_heads
        if linear_key_head_dim is not UNSET:
            field_dict["linear_key_head_dim"] = linear_key_head_dim
        if linear_value_head_dim is not UNSET:
            field_dict["linear_value_head_dim"] = linear_value_head_dim
        if linear_conv_kernel_dim is not UNSET:
            field_dict["linear_conv_kernel_dim"] = linear_conv_kernel_dim
        if attn_output_gate is not UNSET:
            field_dict["attn_output_gate"] = attn_output_gate
        if normalization is not UNSET:
            field_dict["normalization"] = normalization
        if norms_per_layer is not UNSET:
            field_dict["norms_per_layer"] = norms_per_layer
        if norm_bias is not UNSET:
            field_dict["norm_bias"] = norm_bias
        if embedding_norm is not UNSET:
            field_dict["embedding_norm"] = embedding_norm
        if word_embed_proj_dim is not UNSET:
            field_dict["word_embed_proj_dim"] = word_embed_proj_dim
        if do_layer_norm_before is not UNSET:
            field_dict["do_layer_norm_before"] = do_layer_norm_before
        if mlp is not UNSET:
            field_dict["mlp"] = mlp
        if position_embedding is not UNSET:
            field_dict["position_embedding"] = position_embedding
        if qk_norm is not UNSET:
            field_dict["qk_norm"] = qk_norm
        if qkv_bias is not UNSET:
            field_dict["qkv_bias"] = qkv_bias
        if output_bias is not UNSET:
            field_dict["output_bias"] = output_bias
        if mlp_bias is not UNSET:
            field_dict["mlp_bias"] = mlp_bias
        if linear_bias is not UNSET:
            field_dict["linear_bias"] = linear_bias
        if parallel_residual is not UNSET:
            field_dict["parallel_residual"] = parallel_residual

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_preset(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        preset = _parse_preset(d.pop("preset", UNSET))

        def _parse_model_type(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        model_type = _parse_model_type(d.pop("model_type", UNSET))

        def _parse_hidden_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        hidden_size = _parse_hidden_size(d.pop("hidden_size", UNSET))

        def _parse_num_hidden_layers(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        num_hidden_layers = _parse_num_hidden_layers(d.pop("num_hidden_layers", UNSET))

        def _parse_num_attention_heads(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        num_attention_heads = _parse_num_attention_heads(
            d.pop("num_attention_heads", UNSET)
        )

        def _parse_num_key_value_heads(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        num_key_value_heads = _parse_num_key_value_heads(
            d.pop("num_key_value_heads", UNSET)
        )

        def _parse_head_dim(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        head_dim = _parse_head_dim(d.pop("head_dim", UNSET))

        def _parse_intermediate_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        intermediate_size = _parse_intermediate_size(d.pop("intermediate_size", UNSET))

        def _parse_vocab_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        vocab_size = _parse_vocab_size(d.pop("vocab_size", UNSET))

        def _parse_max_position_embeddings(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_position_embeddings = _parse_max_position_embeddings(
            d.pop("max_position_embeddings", UNSET)
        )

        def _parse_tie_word_embeddings(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        tie_word_embeddings = _parse_tie_word_embeddings(
            d.pop("tie_word_embeddings", UNSET)
        )

        def _parse_hidden_act(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        hidden_act = _parse_hidden_act(d.pop("hidden_act", UNSET))

        def _parse_attention_bias(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        attention_bias = _parse_attention_bias(d.pop("attention_bias", UNSET))

        def _parse_sliding_window(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        sliding_window = _parse_sliding_window(d.pop("sliding_window", UNSET))

        def _parse_layer_types(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                layer_types_type_0 = cast(list[str], data)

                return layer_types_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        layer_types = _parse_layer_types(d.pop("layer_types", UNSET))

        def _parse_num_experts(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        num_experts = _parse_num_experts(d.pop("num_experts", UNSET))

        def _parse_num_experts_per_tok(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        num_experts_per_tok = _parse_num_experts_per_tok(
            d.pop("num_experts_per_tok", UNSET)
        )

        def _parse_moe_intermediate_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        moe_intermediate_size = _parse_moe_intermediate_size(
            d.pop("moe_intermediate_size", UNSET)
        )

        def _parse_n_shared_experts(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        n_shared_experts = _parse_n_shared_experts(d.pop("n_shared_experts", UNSET))

        def _parse_shared_expert_intermediate_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        shared_expert_intermediate_size = _parse_shared_expert_intermediate_size(
            d.pop("shared_expert_intermediate_size", UNSET)
        )

        def _parse_first_k_dense_replace(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        first_k_dense_replace = _parse_first_k_dense_replace(
            d.pop("first_k_dense_replace", UNSET)
        )

        def _parse_moe_layer_freq(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        moe_layer_freq = _parse_moe_layer_freq(d.pop("moe_layer_freq", UNSET))

        def _parse_decoder_sparse_step(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        decoder_sparse_step = _parse_decoder_sparse_step(
            d.pop("decoder_sparse_step", UNSET)
        )

        def _parse_mlp_only_layers(data: object) -> list[int] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                mlp_only_layers_type_0 = cast(list[int], data)

                return mlp_only_layers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | Unset, data)

        mlp_only_layers = _parse_mlp_only_layers(d.pop("mlp_only_layers", UNSET))

        def _parse_moe_layer_pattern(data: object) -> list[int] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                moe_layer_pattern_type_0 = cast(list[int], data)

                return moe_layer_pattern_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | Unset, data)

        moe_layer_pattern = _parse_moe_layer_pattern(d.pop("moe_layer_pattern", UNSET))

        def _parse_q_lora_rank(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        q_lora_rank = _parse_q_lora_rank(d.pop("q_lora_rank", UNSET))

        def _parse_kv_lora_rank(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        kv_lora_rank = _parse_kv_lora_rank(d.pop("kv_lora_rank", UNSET))

        def _parse_qk_nope_head_dim(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        qk_nope_head_dim = _parse_qk_nope_head_dim(d.pop("qk_nope_head_dim", UNSET))

        def _parse_qk_rope_head_dim(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        qk_rope_head_dim = _parse_qk_rope_head_dim(d.pop("qk_rope_head_dim", UNSET))

        def _parse_v_head_dim(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        v_head_dim = _parse_v_head_dim(d.pop("v_head_dim", UNSET))

        def _parse_num_nextn_predict_layers(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        num_nextn_predict_layers = _parse_num_nextn_predict_layers(
            d.pop("num_nextn_predict_layers", UNSET)
        )

        def _parse_mtp_shared_layer(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        mtp_shared_layer = _parse_mtp_shared_layer(d.pop("mtp_shared_layer", UNSET))

        def _parse_layers_block_type(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                layers_block_type_type_0 = cast(list[str], data)

                return layers_block_type_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        layers_block_type = _parse_layers_block_type(d.pop("layers_block_type", UNSET))

        def _parse_mamba_d_state(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        mamba_d_state = _parse_mamba_d_state(d.pop("mamba_d_state", UNSET))

        def _parse_mamba_d_conv(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        mamba_d_conv = _parse_mamba_d_conv(d.pop("mamba_d_conv", UNSET))

        def _parse_mamba_expand(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        mamba_expand = _parse_mamba_expand(d.pop("mamba_expand", UNSET))

        def _parse_mamba_n_groups(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        mamba_n_groups = _parse_mamba_n_groups(d.pop("mamba_n_groups", UNSET))

        def _parse_mamba_n_heads(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        mamba_n_heads = _parse_mamba_n_heads(d.pop("mamba_n_heads", UNSET))

        def _parse_mamba_d_head(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        mamba_d_head = _parse_mamba_d_head(d.pop("mamba_d_head", UNSET))

        def _parse_full_attention_interval(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        full_attention_interval = _parse_full_attention_interval(
            d.pop("full_attention_interval", UNSET)
        )

        def _parse_linear_num_key_heads(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        linear_num_key_heads = _parse_linear_num_key_heads(
            d.pop("linear_num_key_heads", UNSET)
        )

        def _parse_linear_num_value_heads(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        linear_num_value_heads = _parse_linear_num_value_heads(
            d.pop("linear_num_value_heads", UNSET)
        )

        def _parse_linear_key_head_dim(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        linear_key_head_dim = _parse_linear_key_head_dim(
            d.pop("linear_key_head_dim", UNSET)
        )

        def _parse_linear_value_head_dim(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        linear_value_head_dim = _parse_linear_value_head_dim(
            d.pop("linear_value_head_dim", UNSET)
        )

        def _parse_linear_conv_kernel_dim(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        linear_conv_kernel_dim = _parse_linear_conv_kernel_dim(
            d.pop("linear_conv_kernel_dim", UNSET)
        )

        def _parse_attn_output_gate(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        attn_output_gate = _parse_attn_output_gate(d.pop("attn_output_gate", UNSET))

        def _parse_normalization(
            data: object,
        ) -> ModelSectionNormalizationType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                normalization_type_0 = check_model_section_normalization_type_0(data)

                return normalization_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ModelSectionNormalizationType0 | None | Unset, data)

        normalization = _parse_normalization(d.pop("normalization", UNSET))

        def _parse_norms_per_layer(
            data: object,
        ) -> ModelSectionNormsPerLayerType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, int):
                    raise TypeError()
                norms_per_layer_type_0 = check_model_section_norms_per_layer_type_0(
                    data
                )

                return norms_per_layer_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ModelSectionNormsPerLayerType0 | None | Unset, data)

        norms_per_layer = _parse_norms_per_layer(d.pop("norms_per_layer", UNSET))

        def _parse_norm_bias(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        norm_bias = _parse_norm_bias(d.pop("norm_bias", UNSET))

        def _parse_embedding_norm(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        embedding_norm = _parse_embedding_norm(d.pop("embedding_norm", UNSET))

        def _parse_word_embed_proj_dim(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        word_embed_proj_dim = _parse_word_embed_proj_dim(
            d.pop("word_embed_proj_dim", UNSET)
        )

        def _parse_do_layer_norm_before(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        do_layer_norm_before = _parse_do_layer_norm_before(
            d.pop("do_layer_norm_before", UNSET)
        )

        def _parse_mlp(data: object) -> ModelSectionMlpType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                mlp_type_0 = check_model_section_mlp_type_0(data)

                return mlp_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ModelSectionMlpType0 | None | Unset, data)

        mlp = _parse_mlp(d.pop("mlp", UNSET))

        def _parse_position_embedding(
            data: object,
        ) -> ModelSectionPositionEmbeddingType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                position_embedding_type_0 = (
                    check_model_section_position_embedding_type_0(data)
                )

                return position_embedding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ModelSectionPositionEmbeddingType0 | None | Unset, data)

        position_embedding = _parse_position_embedding(
            d.pop("position_embedding", UNSET)
        )

        def _parse_qk_norm(data: object) -> ModelSectionQkNormType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                qk_norm_type_0 = check_model_section_qk_norm_type_0(data)

                return qk_norm_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ModelSectionQkNormType0 | None | Unset, data)

        qk_norm = _parse_qk_norm(d.pop("qk_norm", UNSET))

        def _parse_qkv_bias(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        qkv_bias = _parse_qkv_bias(d.pop("qkv_bias", UNSET))

        def _parse_output_bias(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        output_bias = _parse_output_bias(d.pop("output_bias", UNSET))

        def _parse_mlp_bias(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        mlp_bias = _parse_mlp_bias(d.pop("mlp_bias", UNSET))

        def _parse_linear_bias(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        linear_bias = _parse_linear_bias(d.pop("linear_bias", UNSET))

        def _parse_parallel_residual(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        parallel_residual = _parse_parallel_residual(d.pop("parallel_residual", UNSET))

        model_section = cls(
            preset=preset,
            model_type=model_type,
            hidden_size=hidden_size,
            num_hidden_layers=num_hidden_layers,
            num_attention_heads=num_attention_heads,
            num_key_value_heads=num_key_value_heads,
            head_dim=head_dim,
            intermediate_size=intermediate_size,
            vocab_size=vocab_size,
            max_position_embeddings=max_position_embeddings,
            tie_word_embeddings=tie_word_embeddings,
            hidden_act=hidden_act,
            attention_bias=attention_bias,
            sliding_window=sliding_window,
            layer_types=layer_types,
            num_experts=num_experts,
            num_experts_per_tok=num_experts_per_tok,
            moe_intermediate_size=moe_intermediate_size,
            n_shared_experts=n_shared_experts,
            shared_expert_intermediate_size=shared_expert_intermediate_size,
            first_k_dense_replace=first_k_dense_replace,
            moe_layer_freq=moe_layer_freq,
            decoder_sparse_step=decoder_sparse_step,
            mlp_only_layers=mlp_only_layers,
            moe_layer_pattern=moe_layer_pattern,
            q_lora_rank=q_lora_rank,
            kv_lora_rank=kv_lora_rank,
            qk_nope_head_dim=qk_nope_head_dim,
            qk_rope_head_dim=qk_rope_head_dim,
            v_head_dim=v_head_dim,
            num_nextn_predict_layers=num_nextn_predict_layers,
            mtp_shared_layer=mtp_shared_layer,
            layers_block_type=layers_block_type,
            mamba_d_state=mamba_d_state,
            mamba_d_conv=mamba_d_conv,
            mamba_expand=mamba_expand,
            mamba_n_groups=mamba_n_groups,
            mamba_n_heads=mamba_n_heads,
            mamba_d_head=mamba_d_head,
            full_attention_interval=full_attention_interval,
            linear_num_key_heads=linear_num_key_heads,
            linear_num_value_heads=linear_num_value_heads,
            linear_key_head_dim=linear_key_head_dim,
            linear_value_head_dim=linear_value_head_dim,
            linear_conv_kernel_dim=linear_conv_kernel_dim,
            attn_output_gate=attn_output_gate,
            normalization=normalization,
            norms_per_layer=norms_per_layer,
            norm_bias=norm_bias,
            embedding_norm=embedding_norm,
            word_embed_proj_dim=word_embed_proj_dim,
            do_layer_norm_before=do_layer_norm_before,
            mlp=mlp,
            position_embedding=position_embedding,
            qk_norm=qk_norm,
            qkv_bias=qkv_bias,
            output_bias=output_bias,
            mlp_bias=mlp_bias,
            linear_bias=linear_bias,
            parallel_residual=parallel_residual,
        )

        return model_section
