"""`make fuzz`: some twenty thousand requests made from the document, those that it allows and those that it does not.

A real service on loopback that needs tokens, and every check of schemathesis, in some ten minutes. The suite makes a
few hundred requests of the same kind.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from service.settings import Settings
from service.store.migration import upgrade
from service.store.session import Store
from service.usecases.tokens import issue
from tests.api.serving import served

# What a schema cannot say: which devices, models and plans there are, which layouts a framework takes, and what was
# there before. So what has the documented form may still be refused, but with these only.
CONFIGURATION = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 304, 404, 409, 412, 422]

[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 409, 412, 413, 415, 422]
"""
# A search of many layouts would test the search, and a full queue is a 503 as documented.
SERVICE = {
    "access": "tokens",
    "rate_limit": "off",
    "caller_requests": "off",
    "caller_searches": "off",
    "search_max_layouts": "20000",
    "search_queue": "10000",
    "log_level": "WARNING",
}


def main() -> int:
    """Run schemathesis against a service of its own, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=150, help="cases of each kind for each operation")
    parser.add_argument("--minutes", type=int, default=60, help="give up after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("more", nargs="*", help="further arguments of `schemathesis run`")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        settings = Settings(database_url=f"sqlite:///{folder}/memplan.db")
        upgrade(settings)
        with Store(settings) as store:
            token = issue(store, "fuzz", ["admin"]).secret
        (folder / "schemathesis.toml").write_text(CONFIGURATION)
        with served(settings.database_url, folder, **SERVICE) as address:
            code = _run(
                [
                    str(Path(sys.executable).parent / "schemathesis"),
                    *("--config-file", str(folder / "schemathesis.toml")),
                    *("run", f"{address}/openapi.json"),
                    *("--header", f"Authorization: Bearer {token}"),
                    *("--checks", "all", "--mode", "all", "--continue-on-failure"),
                    *("--max-examples", str(options.examples), "--seed", str(options.seed)),
                    *("--request-timeout", "60", "--suppress-health-check", "all"),
                    *options.more,
                ],
                folder,
                options.minutes * 60,
            )
        log = (folder / "serve.log").read_text()
        sys.stdout.write(log[-5000:])
    return code


def _run(words: list[str], folder: Path, seconds: int) -> int:
    try:
        return subprocess.run(words, cwd=folder, timeout=seconds, check=False).returncode
    except subprocess.TimeoutExpired:
        sys.stderr.write(f"not done after {seconds} s; see --minutes and --examples\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
