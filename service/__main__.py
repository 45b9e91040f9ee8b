"""`python -m service` is the command `memplan`."""

import sys

from service.cli import main

sys.exit(main())
