"""How transformers' own tensor parallelism shares attention heads."""

from service.formats.draft import Draft


def note_tensor_heads(draft: Draft) -> None:
    """D8: each rank needs whole key/value heads, which are not repeated; it fails only when the layers are split."""
    tensor, groups = draft.get("/parallelism/tensor"), draft.get("/model/num_key_value_heads")
    whole = isinstance(tensor, int) and isinstance(groups, int) and tensor > 1 and groups > 0
    if not whole or groups % tensor == 0 or draft.get("/framework/transformer_impl") not in {None, "hf"}:
        return
    fits = [each for each in range(1, min(groups, 4096) + 1) if groups % each == 0]
    draft.note(
        "kv_heads_tp",
        "warning",
        f"{groups} key/value heads cannot be shared by a tensor degree of {tensor}: transformers does not repeat them",
        fields=["/model/num_key_value_heads", "/parallelism/tensor"],
        found=f"{groups}, {tensor}",
        rule="key/value heads % tensor == 0",
        fixes=[f"tensor degree {each}" for each in fits[:6]],
    )
