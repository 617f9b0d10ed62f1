"""The commands of players. Each module has ``run``; ``commands.toml`` and ``arguments.toml`` have the rest."""
