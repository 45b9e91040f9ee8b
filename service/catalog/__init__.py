"""What is known about GPUs, models and frameworks, each number with its source."""
