"""The operators' side of a node: administration, the node agent, backups."""
