"""``python -m samedeal_client`` is the command ``samedeal``."""

import sys

from samedeal_client.cli import main

sys.exit(main())
