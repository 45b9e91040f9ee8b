"""`python -m service.api` prints the OpenAPI document, from which clients are generated."""

import json
import sys

from service.api.app import create_app
from service.settings import Settings

if __name__ == "__main__":
    json.dump(create_app(Settings()).openapi(), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
