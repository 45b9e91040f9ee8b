"""The canonical training job: its schema, what is wrong with it, and what the calculator makes of it."""
