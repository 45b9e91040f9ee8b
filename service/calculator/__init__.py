"""The memory model: integers in, integers out; no input or output, no clock, no framework."""
