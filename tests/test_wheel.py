"""What is installed: one package with its types, which has room beside other people's `app` and `accountants`."""

import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import tarfile
import time
import venv
import zipfile
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from epsilond.accountants import VERSION

ROOT = Path(__file__).parents[1]
PARTS = ("app", "ledgers", "witness", "accountants", "calibrators", "mechanisms", "simulators", "storage", "training")
PATIENCE = 300.0
"""Seconds after which a service may be said to hang."""

OWN = """raise ImportError("this is the user's own package, which epsilond must not import")"""
USE = """
import pathlib, sys
import epsilond
assert pathlib.Path(epsilond.__file__).is_relative_to(sys.argv[1]), epsilond.__file__
fields = dict(epsilon=1.0, delta=1e-5, sampling="full", rounds=10, relation="replace-one", unit="record", observer="released-models")
answer = epsilond.calibrate("gaussian", solve_for="noise_multiplier", **fields)
assert answer.guarantee.epsilon.upper <= 1.0
"""
TYPED = """
import epsilond

answer = epsilond.calibrate(
    "gaussian", solve_for="noise_multiplier", epsilon=1.0, delta=1e-5, sampling="full", rounds=10,
    relation="replace-one", unit="record", observer="released-models",
)
reveal_type(answer)
reveal_type(answer.parameters.noise_multiplier)
reveal_type(epsilond.plan(epsilon=1.0, delta=1e-5))
reveal_type(epsilond.Gaussian(noise_multiplier=1.0))
answer.no_such_field
"""


NO_COMPILER = {"CC": "false"}
"""Variables of a machine whose C compiler does nothing but fail."""


def build(target, source, folder, **variables):
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=source, env=os.environ | variables, capture_output=True, check=True)
    (made,) = folder.glob("epsilond-*")
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


def files_in(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_one_package_with_its_types(wheel):
    names = files_in(wheel)
    assert {name.partition("/")[0] for name in names} == {"epsilond", f"epsilond-{VERSION}.dist-info"}
    own = {path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*.py")}
    parts = {Path("epsilond") / path.relative_to(ROOT) for part in PARTS for path in (ROOT / part).rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == {path.as_posix() for path in own | parts}
    assert "epsilond/py.typed" in names
    assert not [name for name in names if "__pycache__" in name]
    with zipfile.ZipFile(wheel) as archive:
        entry_points = archive.read(f"epsilond-{VERSION}.dist-info/entry_points.txt").decode()
    assert "epsilond = epsilond.cli:main" in entry_points
    assert f"epsilond-{VERSION}.dist-info/licenses/LICENSE" in names


def test_the_source_distribution_builds_the_same_wheel(wheel, tmp_path):
    for name in ("sdist", "unpacked", "wheel"):
        (tmp_path / name).mkdir()
    with tarfile.open(build("sdist", ROOT, tmp_path / "sdist")) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    assert files_in(build("wheel", source, tmp_path / "wheel")) == files_in(wheel)


def test_the_source_distribution_holds_the_sources_of_the_kernel(tmp_path):
    with tarfile.open(build("sdist", ROOT, tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    sources = [*(ROOT / "kernel/src").iterdir(), ROOT / "kernel/build.py"]
    assert {path.relative_to(ROOT).as_posix() for path in sources} <= names
    assert not [name for name in names if name.endswith(".so")]


def test_a_wheel_with_the_kernel_is_for_its_platform_and_every_python(wheel):
    pytest.importorskip("epsilond._kernel", reason="the kernel was not built here")
    (kernel,) = (name for name in files_in(wheel) if name.startswith("epsilond/_kernel."))
    assert "-cp311-abi3-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    assert kernel.endswith((".abi3.so", ".pyd"))


def test_a_wheel_with_the_kernel_answers_by_it(installed, project):
    pytest.importorskip("epsilond._kernel", reason="the kernel was not built here")
    ran = run(installed, project, ROOT / "scripts/wheel_answers.py", "kernel")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_without_a_compiler_the_wheel_answers_by_python(tmp_path_factory, project):
    wheel = build("wheel", ROOT, tmp_path_factory.mktemp("wheel"), **NO_COMPILER)
    assert wheel.name.endswith("-py3-none-any.whl")
    assert not [name for name in files_in(wheel) if "_kernel" in name]
    ran = run(environment_with(wheel, tmp_path_factory), project, ROOT / "scripts/wheel_answers.py", "python")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    return environment_with(wheel, tmp_path_factory)


def environment_with(wheel, tmp_path_factory):
    """An environment with the wheel alone in it, which finds what it needs in ours, but not this project."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(packages), str(wheel)]
    subprocess.run([sys.executable, *install], check=True)
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return folder


@pytest.fixture
def project(tmp_path):
    """A folder whose own packages have names that parts of epsilond have."""
    for name in (*PARTS, "ask", "cli"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(OWN, encoding="utf-8")
    return tmp_path


def run(installed, project, *arguments):
    environment = {"PATH": os.environ["PATH"]}
    command = [installed / "bin/python", *arguments]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_the_library_is_used_beside_packages_of_the_same_names(installed, project):
    (project / "use.py").write_text(USE, encoding="utf-8")
    ran = run(installed, project, "use.py", str(installed))
    assert ran.returncode == 0, ran.stderr


@pytest.mark.slow
def test_the_service_starts_beside_packages_of_the_same_names(installed, project):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {"PATH": os.environ["PATH"], "EPSILOND_WORKERS": "1", "EPSILOND_STORE_PATH": str(project / "jobs")}
    start = [installed / "bin/python", "-m", "epsilond", "serve", "--port", str(port)]
    with (project / "log").open("wb") as log:
        service = subprocess.Popen(start, cwd=project, env=environment, stdout=log, stderr=log)
    try:
        until = time.monotonic() + PATIENCE
        status = None
        while status is None and service.poll() is None and time.monotonic() < until:
            time.sleep(0.25)
            with suppress(URLError), urlopen(f"http://127.0.0.1:{port}/healthz", timeout=4) as answer:
                status = answer.status
        assert status == 200, (project / "log").read_text(encoding="utf-8")
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait(PATIENCE)


@pytest.mark.slow
def test_a_type_checker_sees_the_types_of_what_is_installed(installed, project):
    (project / "typed.py").write_text(TYPED, encoding="utf-8")
    check = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--python-executable"]
    command = [*check, installed / "bin/python", "typed.py"]
    ran = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    told = [re.sub(r"\w+\.", "", line.partition(": ")[2]) for line in ran.stdout.splitlines()]
    assert told[:-1] == [
        'note: Revealed type is "Calibration[GaussianParameters]"',
        'note: Revealed type is "float"',
        'note: Revealed type is "PlanAnswer"',
        'note: Revealed type is "Gaussian"',
        'error: "Calibration[GaussianParameters]" has no attribute "no_such_field"  [attr-defined]',
    ], ran.stdout
