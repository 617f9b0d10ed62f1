"""Configuration of a node: settings, limits, trusted proxies, start-up errors."""
