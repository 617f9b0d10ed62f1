"""Servers: how to reach them, what they are told and what they say."""
