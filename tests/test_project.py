"""What must stay true of the project as a whole: versions, dependencies, what is shipped, and the house's rules."""

import ast
import hashlib
import json
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import epsilond
from epsilond.accountants import VERSION
from scripts import link_parts

ROOT = Path(__file__).parents[1]
PARTS = ("app", "ledgers", "witness", "accountants", "calibrators", "mechanisms", "simulators", "storage", "training")
"""The folders at the top that are packages inside epsilond."""
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
SOURCES = [path for folder in ("src/epsilond", *PARTS) for path in sorted((ROOT / folder).rglob("*.py"))]
LONGEST_FILE = 400
"""Most lines of a file."""
REQUEST_CLASS_NAMES = {
    "AdaptiveClipping",
    "AtValue",
    "Mu2SgdRun",
    "NormFedavgRun",
    "PpsgdRun",
    "ProjectedSgdRun",
    "Sweep",
}
"""Names of two classes of which one is the request of the other, or its form over HTTP."""
HOST_CLASS_NAMES = {"EpsilondAccountant"}
"""Names that every host library's integration has."""
MOST_FILES = 18
"""Most Python files in one folder."""
INTEGRATIONS = ROOT / "src/epsilond/integrations"
EXTRAS = ("cli", "reports", "simulate", "data", "ledger", "service", "postgresql", "oidc", "dask", "all")
"""What is installed with some of the library's questions, and with the service."""
HOST_EXTRAS = ("networks",)
"""Extras whose package is too large for the locks. They are tested as a host is, with pins of its own."""
LOCKS = ("requirements-runtime.lock", "requirements-service.lock", "requirements-build.lock", "requirements-docs.lock")
"""Locks of parts of requirements.lock."""
READ_AS_FILES = {"fastapi-swagger"}
"""Packages whose files are read and whose code is not imported."""
FOUND_BY_OTHERS = {"uvloop"}
"""Packages that another one imports where they are installed."""
IMPORT_NAMES = {
    "pydantic-settings": "pydantic_settings",
    "pyjwt": "jwt",
    "prometheus-client": "prometheus_client",
    "protobuf": "google",
    "scikit-learn": "sklearn",
}
NOT_INSTALLED = {"tensorflow-federated"}
"""Hosts that no environment of the tests has: it needs a setuptools that other pins exclude. Stand-ins are tested."""
SERVED_BY = {"starlette": "fastapi", "h11": "uvicorn"}
"""Packages whose names are part of what a declared one hands out, or that it cannot be installed without."""

LICENCE_DIGEST = "0ffddef9e48f8a09"
"""Of the Apache License 2.0 with its white space joined."""


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def pins(name):
    """Names and versions of a lock file."""
    return dict(re.findall(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^ ;\\\n]+)", text(name), flags=re.MULTILINE))


def requirements(*, extra=None):
    """What an extra adds, those that it takes in left out; without one, what everybody needs."""
    listed = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    return [Requirement(each) for each in listed]


def test_one_version_everywhere():
    newest = re.search(r"^## \[(\d.*?)\]", text("CHANGELOG.md"), flags=re.MULTILINE)
    assert newest is not None
    assert {PROJECT["version"], VERSION, epsilond.__version__, newest[1]} == {epsilond.__version__}


def test_every_release_in_the_changelog_has_a_date_and_they_descend():
    dates = re.findall(r"^## \[\d+\.\d+\.\d+\] - (\d{4}-\d{2}-\d{2})$", text("CHANGELOG.md"), flags=re.MULTILINE)
    assert dates
    assert dates == sorted(dates, reverse=True)


def test_the_library_needs_little():
    assert {each.name for each in requirements()} == {"numpy", "scipy", "typing_extensions"}


def third_party(path):
    """Top-level names a file imports that are neither the standard library's nor ours."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        for name in (each.partition(".")[0] for each in names):
            if name not in sys.stdlib_module_names and name != "epsilond":
                yield SERVED_BY.get(name, name)


def test_every_import_is_declared_and_every_dependency_is_imported():
    extras = [requirements(extra=extra) for extra in (*EXTRAS, *HOST_EXTRAS)]
    declared = {IMPORT_NAMES.get(each.name, each.name) for each in sum(extras, requirements())} - {"epsilond"}
    imported = {name for path in SOURCES if INTEGRATIONS not in path.parents for name in third_party(path)}
    assert imported | READ_AS_FILES | FOUND_BY_OTHERS == declared


def test_a_host_is_imported_in_its_own_integration_and_pinned_for_its_tests():
    always = {each.name for each in requirements()}
    for path in INTEGRATIONS.rglob("*.py"):
        place = path.relative_to(INTEGRATIONS)
        imported = {canonicalize_name(name) for name in third_party(path)} - always - NOT_INSTALLED
        if imported:
            pinned = pins(f"tests/integrations/requirements-{place.with_suffix('').parts[0]}.txt")
            assert imported <= {canonicalize_name(name) for name in pinned}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests/integrations").glob("requirements-*.txt")), ids=lambda path: path.stem
)
def test_the_packages_of_a_host_are_pinned_and_its_tests_are_there(path):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9.]+", line) for line in lines)
    host = path.stem.removeprefix("requirements-")
    assert (path.parent / host / f"test_{host}.py").exists()


@pytest.mark.parametrize("extra", HOST_EXTRAS)
def test_an_extra_outside_the_locks_has_pins_for_its_tests(extra):
    pinned = pins(f"tests/integrations/requirements-{extra}.txt")
    for requirement in requirements(extra=extra):
        if requirement.name == "epsilond":
            assert requirement.extras <= set(EXTRAS)
            continue
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)])
        assert canonicalize_name(requirement.name) not in pins("requirements.lock")


@pytest.mark.parametrize(
    ("lock", "extra"),
    [
        *(("requirements.lock", extra) for extra in ("dev", "docs")),
        ("requirements-docs.lock", "docs"),
        *(("requirements-service.lock", extra) for extra in ("service", "postgresql", "oidc")),
        *(("requirements-runtime.lock", extra) for extra in (None, *EXTRAS)),
    ],
)
def test_a_lock_pins_every_requirement(lock, extra):
    pinned = pins(lock)
    for requirement in requirements(extra=extra):
        if requirement.name == "epsilond":
            assert requirement.extras <= set(EXTRAS)
            continue
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)])


def test_the_wheel_is_built_with_locked_tools():
    pinned = pins("requirements-build.lock")
    for requirement in map(Requirement, PYPROJECT["build-system"]["requires"]):
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)])


def test_the_small_locks_are_part_of_the_large_one():
    for lock in LOCKS:
        assert pins(lock).items() <= pins("requirements.lock").items()
    assert "pytest" not in pins("requirements-runtime.lock")


def test_the_service_is_served_without_what_only_simulations_need():
    assert (
        pins("requirements-service.lock")
        .keys()
        .isdisjoint({"matplotlib", "scikit-learn", "h5py", "protobuf", "distributed", "dask"})
    )


@pytest.mark.parametrize("lock", ["requirements.lock", *LOCKS])
def test_a_lock_is_hashed_and_knows_neither_hosts_nor_paths(lock):
    assert text(lock).count("==") <= text(lock).count("--hash=sha256:")
    assert not re.search(r"https?://|file:|--(extra-)?index|--find-links|(^|\s)/\w", text(lock))


def test_the_folders_at_the_top_are_parts_of_the_package_wherever_they_are_named():
    build = PYPROJECT["tool"]["hatch"]["build"]
    links = {each.removeprefix("/src/epsilond/") for each in build["exclude"] if each.startswith("/src/epsilond/")}
    assert set(PARTS) == set(link_parts.PARTS) == links
    assert set(PARTS) < set(build["targets"]["sdist"]["only-include"])


def test_links_are_made_where_there_are_none_and_where_git_wrote_text(tmp_path):
    for name in PARTS:
        (tmp_path / name).mkdir()
    package = tmp_path / "src/epsilond"
    package.mkdir(parents=True)
    (package / PARTS[0]).write_text(f"../../{PARTS[0]}", encoding="utf-8")
    for _ in range(2):
        link_parts.link_parts(tmp_path)
        assert {path.name for path in package.iterdir()} == set(PARTS)
        assert all((package / name).samefile(tmp_path / name) for name in PARTS)


def test_the_image_is_made_of_the_packages_and_starts_the_service():
    dockerfile, ignored = text("Dockerfile"), text(".dockerignore").splitlines()
    copied = set(re.findall(r"^COPY (\w+) \1$", dockerfile, flags=re.MULTILINE))
    assert copied == {
        "src",
        *PARTS,
        "kernel",
        "docs",
        "scripts",
        "benchmarks",
        "openapi",
    }  # the last four make the documents
    assert {f"!{folder}/" for folder in copied} <= set(ignored)
    for files in re.findall(r"^COPY ((?:[\w.-]+ )+)\./$", dockerfile, flags=re.MULTILINE):
        assert {f"!{name}" for name in files.split()} <= set(ignored)
    health, start = (json.loads(each) for each in re.findall(r"CMD (\[.+\])$", dockerfile, flags=re.MULTILINE))
    assert start == ["epsilond", "serve"]
    assert health[:2] == ["python", "-c"]
    compile(health[2], "healthcheck", "exec")
    assert re.search(r"^USER \d+$", dockerfile, flags=re.MULTILINE)


def test_the_licence_is_complete():
    licence = text("LICENSE")
    assert re.findall(r"^   (\d+)\. [A-Z]", licence, flags=re.MULTILINE) == [str(number) for number in range(1, 10)]
    for part in ("Version 2.0, January 2004", "END OF TERMS AND CONDITIONS", "APPENDIX: How to apply"):
        assert part in licence
    assert hashlib.sha256(" ".join(licence.split()).encode()).hexdigest().startswith(LICENCE_DIGEST)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


def test_folders_stay_small():
    sizes = Counter(path.parent.relative_to(ROOT) for path in SOURCES)
    assert {folder: size for folder, size in sizes.items() if size > MOST_FILES} == {}


def test_no_two_classes_have_one_name():
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES)
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    allowed = REQUEST_CLASS_NAMES | HOST_CLASS_NAMES
    assert {name for name, count in names.items() if count > 1} <= allowed


def test_the_two_commands_of_the_readme_exist_and_the_checks_run_the_second():
    for command in ("./scripts/serve", "./scripts/test"):
        assert re.search(rf"^{re.escape(command)}$", text("README.md"), flags=re.MULTILINE)
        assert (ROOT / command).stat().st_mode & 0o111
    assert re.search(r"^step \./scripts/test$", text(".ci/run"), flags=re.MULTILINE)
    assert (ROOT / ".ci/run").stat().st_mode & 0o111
