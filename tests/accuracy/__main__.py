"""`make accuracy`: the residuals and the level that the service ships with, then the page that shows them."""

import subprocess
import sys

from tests.accuracy import residuals

residuals.write()
# The page reads what was just written as the service does, so it is made by a process that has read nothing yet.
subprocess.run([sys.executable, "-m", "tests.accuracy.page"], check=True)
