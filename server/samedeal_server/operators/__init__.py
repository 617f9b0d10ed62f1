"""The operators' access to a node, the agent that carries out their orders, and backups."""
