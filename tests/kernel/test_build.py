"""How the kernel is built: with the compiler that is there, and not at all, in one line, where there is none."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).parents[2] / "kernel/build.py"


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """The program that builds it."""
    spec = importlib.util.spec_from_file_location("kernel_build", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.usefixtures("module")
def test_it_is_built_where_there_is_a_compiler(build: ModuleType, tmp_path: Path) -> None:
    made = build.compile_into(tmp_path)
    assert list(tmp_path.iterdir()) == [made]
    read = "import _kernel, sys; sys.exit(not hasattr(_kernel, 'Composition'))"
    assert subprocess.run([sys.executable, "-c", read], cwd=tmp_path, check=False).returncode == 0


def test_without_a_compiler_nothing_is_left_and_one_line_says_why(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "false")
    (tmp_path / "_kernel.abi3.so").write_bytes(b"an old one")
    with pytest.raises(build.NotBuilt) as failed:
        build.compile_into(tmp_path)
    assert not list(tmp_path.iterdir())
    assert len(build.warning(failed.value).splitlines()) == 1


def test_an_interpreter_without_the_stable_interface_has_none(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build.sysconfig, "get_config_var", {"Py_GIL_DISABLED": 1}.get)
    with pytest.raises(build.NotBuilt, match="stable interface"):
        build.compile_into(tmp_path)
