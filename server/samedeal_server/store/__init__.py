"""The data that all nodes share, in Redis. Only ``embedded_redis`` also imports the Redis client."""
