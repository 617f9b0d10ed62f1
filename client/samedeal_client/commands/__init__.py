"""The commands of ``samedeal``. Each module has DESCRIPTION, EXAMPLES, ``add_arguments`` and ``run``."""
