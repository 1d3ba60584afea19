"""Compile the kernel: `python kernel/build.py` for a checkout; hatch_build.py calls it for wheels."""

from __future__ import annotations

import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/epsilond"
SOURCES = ROOT / "kernel/src"
MODULE = "_kernel"
"""Name of the extension module in the package epsilond."""
LIMITED_API = "0x030B0000"
"""The first version of Python whose stable interface is enough: 3.11."""

if sys.platform == "win32":
    FLAGS, LIBRARIES = ("/std:c11", "/O2", "/fp:precise"), ()
else:
    FLAGS, LIBRARIES = ("-std=c11", "-O3", "-ffp-contract=off", "-fvisibility=hidden"), ("m",)


class NotBuilt(Exception):
    """The kernel could not be compiled; the message has the reason."""


def compile_into(folder: Path) -> Path:
    """Compile the kernel into a folder, in place of an old one, and return the file of the extension module.

    Raises:
        NotBuilt: there is no C compiler, or it fails, or this Python has no stable interface.
    """
    for old in folder.glob(f"{MODULE}.*"):
        old.unlink()
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise NotBuilt("this Python does not have CPython's stable interface")
    try:
        from setuptools import Distribution, Extension  # noqa: PLC0415  (may be missing where nothing is compiled)
        from setuptools.errors import BaseError, CCompilerError  # noqa: PLC0415
    except ImportError as error:
        raise NotBuilt("setuptools is not installed") from error
    extension = Extension(
        MODULE,
        sources=sorted(map(str, SOURCES.glob("*.c"))),
        extra_compile_args=[*FLAGS],
        libraries=[*LIBRARIES],
        define_macros=[("Py_LIMITED_API", LIMITED_API)],
        py_limited_api=True,
    )
    command = Distribution({"name": "epsilond", "ext_modules": [extension]}).get_command_obj("build_ext")
    with tempfile.TemporaryDirectory() as objects:
        command.build_temp, command.build_lib = objects, str(folder)
        try:
            command.ensure_finalized()
            command.run()
        except (BaseError, CCompilerError, OSError) as error:
            raise NotBuilt(f"the C compiler failed: {error}") from error
    (built,) = folder.glob(f"{MODULE}.*")
    return built


def warning(reason: Exception) -> str:
    """Return the warning for a user that the kernel was not built."""
    return f"epsilond: the compiled kernel was not built ({reason}); answers come from the slower Python reference"


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{compile_into(PACKAGE).relative_to(ROOT)}\n")
    except NotBuilt as error:
        sys.exit(warning(error))
