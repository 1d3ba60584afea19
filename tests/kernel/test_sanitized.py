"""The kernel under AddressSanitizer and UBSan, asked random and hostile questions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SANITIZED = (
    "-std=c11", "-O1", "-g", "-ffp-contract=off", "-fPIC", "-shared", "-DPy_LIMITED_API=0x030B0000",
    "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Wno-missing-field-initializers",
    "-Wno-cast-function-type", "-Werror",
)  # fmt: skip


@pytest.fixture(scope="module")
def runtime() -> Path:
    """The library of AddressSanitizer, which has to be loaded before the interpreter."""
    compiler = shutil.which("gcc")
    if compiler is None or not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        pytest.skip("gcc and the headers of Python are needed")
    told = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    library = Path(told.stdout.strip())
    if not library.is_absolute():
        pytest.skip("gcc has no AddressSanitizer here")
    return library


@pytest.fixture(scope="module")
def sanitized(runtime: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel, compiled with both sanitizers and with warnings as errors."""
    assert runtime.is_absolute()
    made = tmp_path_factory.mktemp("sanitized") / "_kernel.abi3.so"
    sources = map(str, sorted((ROOT / "kernel/src").glob("*.c")))
    headers = f"-I{sysconfig.get_paths()['include']}"
    subprocess.run(["gcc", *SANITIZED, headers, *sources, "-o", str(made), "-lm"], check=True)
    return made


def fuzz(sanitized: Path, runtime: Path, compositions: int, seed: int) -> tuple[int, int]:
    """Return how many questions were asked and answered."""
    environment = {
        **os.environ,
        "LD_PRELOAD": str(runtime),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "tests.kernel.fuzz", str(sanitized), str(compositions), str(seed)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    asked, answered = map(int, done.stdout.split())
    return asked, answered


def test_nothing_undefined_happens(sanitized: Path, runtime: Path) -> None:
    asked, answered = fuzz(sanitized, runtime, 80, 1)
    assert answered > 0.3 * asked > 0


@pytest.mark.slow
def test_nothing_undefined_happens_in_many_questions(sanitized: Path, runtime: Path) -> None:
    """It takes about ten minutes."""
    asked, answered = fuzz(sanitized, runtime, 15_000, 2)
    assert answered > 0.3 * asked > 10_000


def test_a_sanitizer_is_at_work(runtime: Path, tmp_path: Path) -> None:
    """A program that reads beyond an array ends with an error."""
    source = tmp_path / "beyond.c"
    source.write_text("int main(int n, char **v) { int a[2] = {1, 2}; (void)v; return a[n + 1]; }\n", encoding="utf-8")
    program = tmp_path / "beyond"
    subprocess.run(["gcc", "-fsanitize=address,undefined", str(source), "-o", str(program)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert runtime.exists()
    assert "runtime error" in done.stderr or "AddressSanitizer" in done.stderr
