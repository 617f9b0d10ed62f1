"""Lies by enumeration: whatever a server says, no client calls it fair if it is not."""
