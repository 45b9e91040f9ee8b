"""What measured runs say about the calculator's error."""
