"""The routes: each parses, calls one use case and returns a schema."""
