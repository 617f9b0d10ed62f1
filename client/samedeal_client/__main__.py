"""The entry point of ``python -m samedeal_client``, which runs the command ``samedeal``."""

import sys

from samedeal_client.cli import main

sys.exit(main())
