"""The data that all nodes share, in Redis. No other package imports the Redis client."""
