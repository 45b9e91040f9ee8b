"""The canonical job out again, in each framework's own form, whole or as the change to a config."""
