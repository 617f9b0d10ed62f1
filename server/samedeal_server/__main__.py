"""Entry point of ``python -m samedeal_server``, which is the same as the command ``samedeal-server``.

If the first argument is ``serve``, messages show ``samedeal serve`` as the name of the command.
"""

import sys

from samedeal_server.cli import main

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[2:], "samedeal serve") if sys.argv[1:2] == ["serve"] else main())
