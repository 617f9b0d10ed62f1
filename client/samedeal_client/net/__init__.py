"""Connections to servers: dialing, reconnection, sessions, requests."""
