"""memplan: plans GPU memory for distributed training of large language models."""
