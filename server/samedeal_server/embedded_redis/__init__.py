"""The Redis that a server starts for itself."""
