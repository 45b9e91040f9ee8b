"""What trainers on Hugging Face transformers share: arguments, optimizers, adapters, sharding, defaults."""
