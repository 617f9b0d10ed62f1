"""The one store: Redis, its keys, its scripts, and what is asked of it."""
