"""``python -m samedeal_server`` is ``samedeal-server``; with the first argument ``serve`` it is ``samedeal serve``."""

import sys

from samedeal_server.cli import main

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[2:], "samedeal serve") if sys.argv[1:2] == ["serve"] else main())
