"""The commands of players. Each module has ``add_arguments`` and ``run``; ``help.toml`` has the texts of their help."""
