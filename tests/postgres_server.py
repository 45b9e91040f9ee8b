"""The PostgreSQL server that the tests run on: one that answers already, or a private one started for the run."""

import getpass
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

import psycopg
import pytest
from sqlalchemy import URL, make_url

OLDEST_VERSION = 150000
REQUIRED = "MEMPLAN_REQUIRE_POSTGRES"
_LOCAL = URL.create("postgresql+psycopg", "postgres", host="127.0.0.1", port=5432, database="postgres")
# The tests' data may be lost with the machine, and a server that does not wait for the disk starts in half the time.
_UNSAFE_AND_FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off"


class NoServer(Exception):
    """There is no server to test on, and none can be started."""


def give_up(reason: NoServer) -> NoReturn:
    """Skip the test that asks for a server, or fail it where one is required."""
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"PostgreSQL is required: {reason}")
    pytest.skip(str(reason))


@contextmanager
def postgres_server() -> Iterator[URL]:
    """Give the URL of a server on which the tests may make databases. Raises NoServer."""
    with ExitStack() as stack:
        if given := os.environ.get("TEST_DATABASE_URL"):
            url = make_url(given).set(drivername="postgresql+psycopg")
            if (problem := why_unusable(url)) is not None:
                raise NoServer(f"TEST_DATABASE_URL is set, but {problem}")
        elif why_unusable(_LOCAL) is None:
            url = _LOCAL
        else:
            url = stack.enter_context(private_server()).url
        yield url


def why_unusable(url: URL) -> str | None:
    """Say why the tests cannot use the server of this URL, or return None when they can."""
    try:
        with connect(url) as connection:
            version = connection.info.server_version
    except psycopg.OperationalError as error:
        return str(error)
    return None if version >= OLDEST_VERSION else f"version {version // 10000} is older than 15"


def connect(url: URL) -> psycopg.Connection:
    """Connect without a transaction, as CREATE DATABASE needs."""
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(plain, autocommit=True, connect_timeout=5)


@dataclass(frozen=True)
class PrivateServer:
    """A server of our own, which may be stopped, started again and paused."""

    url: URL
    binaries: Path
    owner: pwd.struct_passwd

    @property
    def _folder(self) -> Path:
        return Path(str(self.url.query["host"]))

    def start(self) -> None:
        """Start it, and wait until it answers. Raises NoServer."""
        options = f"-c listen_addresses='' -c unix_socket_directories={self._folder} {_UNSAFE_AND_FAST}"
        self._control("start", "-l", str(self._folder / "log"), "-o", options)

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """Stop it; immediate is as a crash, which loses what it was told not to wait for. Raises NoServer."""
        self._control("stop", "-m", mode)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let none of its processes do anything for a while."""
        main = int((self._folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        # New connections are new processes, so their maker is stopped first.
        stopped = [main, *_children(main)]
        for each in stopped:
            os.kill(each, signal.SIGSTOP)
        try:
            yield
        finally:
            for each in reversed(stopped):
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGCONT)

    def _control(self, action: str, *options: str) -> None:
        _run(self.owner, self.binaries / "pg_ctl", action, "-w", "-D", str(self._folder / "data"), *options)


@contextmanager
def private_server() -> Iterator[PrivateServer]:
    """Start a server that only this machine's sockets reach, and stop it at the end. Raises NoServer."""
    binaries = _binaries()
    if binaries is None:
        raise NoServer("no PostgreSQL answers at 127.0.0.1:5432 and its server programs are not installed")
    owner = _owner()
    # Short, because the path of a socket may have 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="memplan-pg-"))
    try:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        data = str(folder / "data")
        _run(owner, binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        url = URL.create("postgresql+psycopg", "postgres", database="postgres", query={"host": str(folder)})
        server = PrivateServer(url, binaries, owner)
        server.start()
        try:
            yield server
        finally:
            # It may have been stopped already.
            with suppress(NoServer):
                server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path | None:
    found = shutil.which("initdb")
    # Debian keeps the server's programs off the path.
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    candidates = [Path(found).resolve().parent] if found else []
    usable = [folder for folder in (*candidates, *reversed(folders)) if (folder / "initdb").exists()]
    return usable[0] if usable else None


def _owner() -> pwd.struct_passwd:
    # The server refuses to run as root.
    name = "postgres" if os.geteuid() == 0 else getpass.getuser()
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise NoServer(f"the tests run as root, and there is no user {name} to run a server as") from None


def _children(process: int) -> list[int]:
    children = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name of a program is in brackets and may hold spaces.
            if int(status.read_text().rpartition(")")[2].split()[1]) == process:
                children.append(int(status.parent.name))
    return children


def _run(owner: pwd.struct_passwd, *command: str | Path) -> None:
    identity: dict[str, Any] = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    # The server inherits the output of pg_ctl, so a pipe would stay open and keep us waiting; a file does not.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            command,
            check=False,
            cwd="/",
            stdout=output,
            stderr=output,
            **(identity if os.geteuid() == 0 else {}),
        )
        output.seek(0)
        if done.returncode != 0:
            raise NoServer(f"{Path(command[0]).name} failed: {output.read().decode(errors='replace').strip()}")
