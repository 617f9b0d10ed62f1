"""Entry point of ``python -m samedeal_server``, which does the same as the command ``samedeal-server``.

With ``serve`` as the first argument it does the same as ``samedeal serve``.
"""

import sys

from samedeal_server.cli import main

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[2:], "samedeal serve") if sys.argv[1:2] == ["serve"] else main())
