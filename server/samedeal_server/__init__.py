"""The race server."""
