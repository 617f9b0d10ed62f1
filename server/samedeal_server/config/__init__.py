"""The settings of a node: how they are read, its limits, and its trusted proxies."""
