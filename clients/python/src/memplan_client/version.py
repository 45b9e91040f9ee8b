"""The release of this client."""

VERSION = "0.1.0"
