"""The commands of players. Each module has DESCRIPTION, EXAMPLES, ``add_arguments`` and ``run``."""
