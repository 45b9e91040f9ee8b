"""Tensors in 8 or 4 bits as Transformer Engine keeps them: the data, and the scales of its blocks.

One scale for a whole tensor is a single number, and left out. Source: TransformerEngine @ d0067d0d,
pytorch/tensor/mxfp8_tensor.py, float8_blockwise_tensor.py and nvfp4_tensor.py.
"""

from service.calculator.units import Int, ceil_div

MX_BLOCK = 32
"""Elements that share one scale of 8 bits in the MX formats."""

NV_BLOCK = 16
"""Elements that share one scale of 8 bits in NVFP4."""

ROW_BLOCK = 128
"""Elements of a row that share one fp32 scale under blockwise scaling; of a weight, as many rows do so, too."""

Form = tuple[str, tuple[Int, ...], str]
"""Suffix of a name, shape and data type."""


def narrow_input(recipe: str, shape: tuple[Int, ...]) -> list[Form]:
    """One form of an activation, its last dimension cut into blocks."""
    *rows, last = shape
    if recipe == "nvfp4":
        return [("", (*rows, ceil_div(last, 2)), "uint8"), (".scales", (*rows, ceil_div(last, NV_BLOCK)), "uint8")]
    forms: list[Form] = [("", shape, "fp8")]
    if recipe == "mxfp8":
        forms.append((".scales", (*rows, ceil_div(last, MX_BLOCK)), "uint8"))
    if recipe == "blockwise":
        forms.append((".scales", (*rows, ceil_div(last, ROW_BLOCK)), "fp32"))
    return forms


def narrow_weights(recipe: str, elements: Int, copies: int) -> list[Form]:
    """`copies` forms of weights that have so many elements together; of one that trains in 8 bits, one is primary."""
    if recipe == "nvfp4":
        return [
            ("", (copies, ceil_div(elements, 2)), "uint8"),
            (".scales", (copies, ceil_div(elements, NV_BLOCK)), "uint8"),
        ]
    forms: list[Form] = [("", (copies, elements), "fp8")]
    if recipe == "mxfp8":
        forms.append((".scales", (copies, ceil_div(elements, MX_BLOCK)), "uint8"))
    if recipe == "blockwise":
        forms.append((".scales", (copies, ceil_div(elements, ROW_BLOCK * ROW_BLOCK)), "fp32"))
    return forms
