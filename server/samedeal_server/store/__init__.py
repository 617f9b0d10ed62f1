"""The data that all nodes share, in Redis. Only this package and ``embedded_redis`` import the Redis client."""
