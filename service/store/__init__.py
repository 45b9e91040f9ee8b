"""Where plans are kept: SQLite or PostgreSQL behind functions that take and return plain frozen dataclasses."""
