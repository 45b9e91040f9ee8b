"""The Dockerfile and docker-compose.yml say what the program understands."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import make_url

from service.api.app import create_app
from service.cli import build_parser
from service.settings import Settings

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "memplan"}


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions with their arguments, in order."""
    source = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = source.replace("\\\n", " ").splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines) if word]


def arguments(instruction: str) -> list[str]:
    return [rest for word, rest in instructions() if word == instruction]


def health_checks() -> dict[str, list[str]]:
    (dockerfile,) = arguments("HEALTHCHECK")
    checks = {"Dockerfile": json.loads(dockerfile[dockerfile.index("[") :])}
    return checks | {"docker-compose.yml": SERVICES["memplan"]["healthcheck"]["test"][1:]}


def commands() -> dict[str, list[str]]:
    (dockerfile,) = arguments("CMD")
    return {"Dockerfile": json.loads(dockerfile)} | {name: service["command"] for name, service in OURS.items()}


@pytest.mark.parametrize("where", commands())
def test_a_command_is_one_that_the_program_has(where: str) -> None:
    program, *words = commands()[where]
    assert program == "memplan"
    build_parser().parse_args(words)


def test_the_service_listens_where_the_container_is_reached() -> None:
    for where in ("Dockerfile", "memplan"):
        options = build_parser().parse_args(commands()[where][1:])
        assert (options.host, options.port) == ("0.0.0.0", 8000)  # noqa: S104 - inside the container
    assert arguments("EXPOSE") == ["8000"]
    assert SERVICES["memplan"]["ports"] == ["127.0.0.1:8000:8000"]


@pytest.mark.parametrize("where", health_checks())
def test_the_health_check_asks_a_route_that_the_service_has(where: str, sqlite_url: str) -> None:
    program, option, code = health_checks()[where]
    assert (program, option) == ("python", "-c")
    compile(code, where, "exec")
    (path,) = re.findall(r"http://127\.0\.0\.1:8000(/\w+)", code)
    assert path in create_app(Settings(database_url=sqlite_url)).openapi()["paths"]


def test_every_setting_is_one_that_the_program_has() -> None:
    names = {f"MEMPLAN_{field.upper()}" for field in Settings.model_fields}
    for service in OURS.values():
        assert set(service["environment"]) <= names
        values = {name.removeprefix("MEMPLAN_").lower(): value for name, value in service["environment"].items()}
        Settings(**values)
    in_dockerfile = {word.partition("=")[0] for rest in arguments("ENV") for word in shlex.split(rest)}
    assert {name for name in in_dockerfile if name.startswith("MEMPLAN_")} <= names


def test_the_service_is_given_the_database_that_is_there() -> None:
    database = SERVICES["database"]["environment"]
    for service in OURS.values():
        url = make_url(Settings(database_url=service["environment"]["MEMPLAN_DATABASE_URL"]).database_url)
        assert url.drivername == "postgresql+psycopg"
        assert url.host in SERVICES
        assert (url.username, url.database) == (database["POSTGRES_USER"], database["POSTGRES_DB"])
        # The URL is split at its colons, so the password is compared as it is written.
        assert f":{database['POSTGRES_PASSWORD']}@" in service["environment"]["MEMPLAN_DATABASE_URL"]


def test_nothing_starts_before_the_database_answers_and_has_its_schema() -> None:
    check = SERVICES["database"]["healthcheck"]["test"]
    assert check[:2] == ["CMD", "pg_isready"]
    for name in OURS:
        assert SERVICES[name]["depends_on"]["database"]["condition"] == "service_healthy"
    assert commands()["upgrade"] == ["memplan", "db", "upgrade"]
    assert SERVICES["memplan"]["depends_on"]["upgrade"]["condition"] == "service_completed_successfully"


def test_the_image_does_not_run_as_root_and_may_write_where_it_works() -> None:
    users = arguments("USER")
    assert users == ["memplan"]
    (home,) = re.findall(r"--home-dir (\S+) memplan", " ".join(arguments("RUN")))
    assert arguments("WORKDIR")[-1] == home
    assert arguments("VOLUME") == [home]


def test_the_image_is_made_of_files_that_exist_with_the_pins_of_its_python() -> None:
    versions = {re.match(r"python:(\d+\.\d+)-slim", rest)[1] for rest in arguments("FROM")}  # type: ignore[index]
    (version,) = versions
    install = next(rest for rest in arguments("RUN") if "pip install" in rest)
    assert f"--constraint constraints/{version}.txt" in install
    assert "'.[postgres]'" in install
    copied = [word for rest in arguments("COPY") if "--from" not in rest for word in rest.split()[:-1]]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for name in copied:
        assert (ROOT / name).exists()
        assert f"!{name}" in ignored
