"""What callers can ask for, one module per noun; the HTTP service and the command line share them."""
