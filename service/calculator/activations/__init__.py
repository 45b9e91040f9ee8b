"""What one layer saves for its backward, tensor by tensor, for one micro-batch on one GPU."""
