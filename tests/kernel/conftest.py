"""The compiled kernel, built once with the system's compiler; its tests are skipped where there is none."""

from __future__ import annotations

import functools
import gc
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from epsilond.accountants.engine import kernel

SOURCES = Path(__file__).parents[2] / "kernel" / "src"
FLAGS = ("-std=c11", "-O3", "-ffp-contract=off")
"""As in kernel/setup.py."""
STRICT = ("-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror", "-fPIC", "-shared")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the built module lies, and nothing else. Processes that test side by side share it."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    headers = Path(sysconfig.get_paths()["include"])
    if compiler is None or not (headers / "Python.h").exists():
        pytest.skip("no C compiler, or no headers of Python: the kernel was not built")
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "kernel-built"
    if not shared.exists():
        made = tmp_path_factory.mktemp("kernel")
        target = ("-o", str(made / "epsilond_kernel.abi3.so"), *map(str, sorted(SOURCES.glob("*.c"))), "-lm")
        limited = ("-DPy_LIMITED_API=0x030B0000", f"-I{headers}")
        subprocess.run([compiler, *FLAGS, *STRICT, *limited, *target], check=True)
        try:
            made.rename(shared)
        except OSError:  # another process was first
            assert shared.exists()
    return shared


@pytest.fixture(scope="session")
def module(folder: Path) -> ModuleType:
    """The built module."""
    before = sys.modules.get("epsilond_kernel")  # making the module already puts it there
    spec = importlib.util.spec_from_file_location("epsilond_kernel", folder / "epsilond_kernel.abi3.so")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    if before is None:
        sys.modules.pop("epsilond_kernel", None)
    else:
        sys.modules["epsilond_kernel"] = before
    return found


@pytest.fixture
def use() -> Iterator[pytest.MonkeyPatch]:
    """Lets a test choose what the engine asks first, and forgets it afterwards: other tests ask what is installed."""
    before = sys.modules.pop("epsilond_kernel", None)
    forget_all()
    with pytest.MonkeyPatch.context() as patch:
        yield patch
    sys.modules.pop("epsilond_kernel", None)
    if before is not None:
        sys.modules["epsilond_kernel"] = before
    forget_all()


def forget_all() -> None:
    """Clear every cache of the library: whatever was computed with the kernel may differ in its last digits."""
    for each in gc.get_objects():
        if isinstance(each, functools._lru_cache_wrapper) and str(each.__module__).startswith("epsilond."):
            each.cache_clear()


@pytest.fixture
def on(module: ModuleType, use: pytest.MonkeyPatch) -> None:
    """The engine asks the kernel first."""
    use.setattr(kernel, "loaded", lambda: module.Steps)
