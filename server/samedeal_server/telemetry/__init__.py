"""Metrics, logs and statistics of a node."""
