"""The commands of ``samedeal``, a module each: DESCRIPTION, EXAMPLES, ``add_arguments`` and ``run``."""
