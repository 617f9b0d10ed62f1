"""``python -m samedeal_server`` is ``samedeal-server``."""

from samedeal_server.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
