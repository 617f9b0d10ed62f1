"""The client that prints and reads lines."""
