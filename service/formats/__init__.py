"""Foreign training configs in, the canonical job out: one module or package for each dialect, shared syntax below."""
