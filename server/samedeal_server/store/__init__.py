"""The data that all nodes share, in Redis. Only this package imports the Redis client."""
