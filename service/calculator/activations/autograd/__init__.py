"""What torch's autograd keeps of a layer written as torch modules, found by replaying the layer's operations.

Megatron's and Transformer Engine's fused modules are closed forms beside this package. A layer of transformers, of
torchtitan or of plain modules is a sequence of small operations instead, and what it keeps depends on how they are
written, on what trains, on autocast and on the compiler. Each operation states what it keeps; the sum follows.
"""
