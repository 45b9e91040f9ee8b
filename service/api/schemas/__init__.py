"""What travels over the wire: one module per noun, apart from the domain's own types."""
