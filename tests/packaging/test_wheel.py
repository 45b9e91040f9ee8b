"""The wheel holds all that an installed memplan needs, and works away from the checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from service.store.migration import head_revision

ROOT = Path(__file__).parents[2]

CREATE_A_DATABASE = """
import sys
import service
from service.settings import Settings
from service.store import migration
assert service.__file__.startswith(sys.argv[2]), service.__file__
settings = Settings(database_url=sys.argv[1])
migration.ensure_usable(settings)
print(migration.current_revision(settings))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_every_file_of_the_package_and_every_migration_is_in_it(wheel: zipfile.ZipFile) -> None:
    held = set(wheel.namelist())
    for path in (ROOT / "service").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert path.relative_to(ROOT).as_posix() in held
    for path in (ROOT / "migrations").rglob("*.py"):
        assert f"service/_migrations/{path.relative_to(ROOT / 'migrations').as_posix()}" in held


def test_nothing_else_is_in_it(wheel: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"service"}


def test_its_migrations_make_a_database(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    wheel.extractall(installed)
    arguments = [f"sqlite:///{tmp_path / 'memplan.db'}", str(installed)]
    made = subprocess.run(
        [sys.executable, "-c", CREATE_A_DATABASE, *arguments],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout.strip() == head_revision()
