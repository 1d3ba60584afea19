"""A real PostgreSQL for tests: the one on this machine's port 5432, else one started from installed programs.

Where CI=true it has to be there; elsewhere tests that need it are skipped, and say so.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

USERS = ("postgres", os.environ.get("USER") or "root", "root")
PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/pgsql/bin")
PATIENCE = 600.0
"""Seconds after which a server may be said not to start."""


@pytest.fixture(scope="session")
def postgresql_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server's maintenance database, without its name: of one whose databases this user may make."""
    running = found()
    if running is not None:
        yield running
        return
    programs = installed()
    if programs is None:
        missing = "no PostgreSQL on 127.0.0.1:5432 that lets us in, and no initdb and postgres to start one"
        assert os.environ.get("CI") != "true", missing
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            print(f"\nNOT TESTED: the store on PostgreSQL ({missing})", file=sys.stderr)
        pytest.skip(missing)
    with started(programs) as url:
        yield url


@pytest.fixture
def postgresql_url(postgresql_server: str) -> Iterator[str]:
    """The URL of a new database, which is dropped after the test with whoever is still connected to it."""
    with database_of(postgresql_server) as url:
        yield url


@contextmanager
def database_of(server: str) -> Iterator[str]:
    """A new database of a server."""
    name = f"epsilond_test_{uuid4().hex}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")  # nobody is ever connected to that one
    try:
        yield f"{server}/{name}"
    finally:
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def found() -> str | None:
    """The server on the usual port, if it takes us without a password and lets us make databases."""
    for user in dict.fromkeys(USERS):
        url = f"postgresql://{user}@127.0.0.1:5432"
        try:
            with psycopg.connect(f"{url}/postgres", connect_timeout=10) as connection:
                rights = "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"
                if connection.execute(rights).fetchone() == (True,):
                    return url
        except psycopg.OperationalError:
            continue
    return None


def installed() -> Path | None:
    """Where the programs of the newest PostgreSQL are."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    for place in PLACES:
        folders += sorted(Path("/").glob(place.removeprefix("/")), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


@contextmanager
def started(programs: Path) -> Iterator[str]:
    """A server of its own, in a folder that is removed after it; as root it runs as somebody else, as it has to."""
    with tempfile.TemporaryDirectory(prefix="epsilond-postgresql-") as name:
        folder, user = Path(name), nobody()
        if user is not None:
            os.chown(folder, user, -1)
        data = folder / "data"
        make = [str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync"]
        subprocess.run(make, user=user, cwd=folder, check=True, capture_output=True, env=os.environ | {"LC_ALL": "C"})
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        chosen = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": folder, "fsync": "off"}
        serve = [str(programs / "postgres"), "-D", str(data), *(f"--{name}={value}" for name, value in chosen.items())]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(serve, user=user, cwd=folder, stdout=log, stderr=log)
        try:
            url = f"postgresql://postgres@127.0.0.1:{port}"
            until = time.monotonic() + PATIENCE
            while not answers(url):
                assert server.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < until, (folder / "log").read_text()
                time.sleep(0.05)
            yield url
        finally:
            server.terminate()
            server.wait()


def nobody() -> int | None:
    """Whom a server runs as where this is root; None for whoever this is."""
    if os.geteuid() != 0:
        return None
    names = {each.pw_name: each.pw_uid for each in pwd.getpwall()}
    return names.get("postgres", names["nobody"])


def answers(url: str) -> bool:
    """Whether a server takes connections."""
    try:
        psycopg.connect(f"{url}/postgres", connect_timeout=10).close()
    except psycopg.OperationalError:
        return False
    return True
