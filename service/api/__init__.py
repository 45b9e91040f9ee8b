"""The HTTP service: routes, wire schemas and problem answers over the use cases."""
