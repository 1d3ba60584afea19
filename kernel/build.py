"""Compile the kernel into the package: a hook of hatchling's build, and `python kernel/build.py` for a checkout.

Without a C compiler the package is built without the kernel, and says so in one line: it answers from Python then.
"""

from __future__ import annotations

import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/epsilond"
SOURCES = ROOT / "kernel/src"
MODULE = "_kernel"
"""Name of the extension module in the package epsilond."""
LIMITED_API = "0x030B0000"
"""The first version of Python whose stable interface is enough: 3.11."""
TAG = "cp311-abi3"
"""Of a wheel that is right for every CPython from that version on."""

if sys.platform == "win32":
    FLAGS, LIBRARIES = ("/std:c11", "/O2", "/fp:precise"), ()
else:
    FLAGS, LIBRARIES = ("-std=c11", "-O3", "-ffp-contract=off", "-fvisibility=hidden"), ("m",)


class NotBuilt(Exception):
    """The kernel could not be compiled; the message says why."""


def compile_into(folder: Path) -> Path:
    """Compile the kernel into a folder and return the file of the extension module.

    Raises:
        NotBuilt: there is no C compiler, or it fails, or this Python has no stable interface.
    """
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise NotBuilt("this Python does not have CPython's stable interface")
    try:
        from setuptools import Distribution, Extension  # noqa: PLC0415  (may be missing where nothing is compiled)
        from setuptools.errors import BaseError, CCompilerError  # noqa: PLC0415
    except ImportError as error:
        raise NotBuilt("setuptools is not installed") from error
    for old in folder.glob(f"{MODULE}.*"):
        old.unlink()
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


class KernelHook(BuildHookInterface[Any]):
    """Puts the kernel into a wheel, or beside the sources for an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernel, and give the wheel the tag that it then needs."""
        self.work = tempfile.TemporaryDirectory()
        try:
            built = compile_into(PACKAGE if version == "editable" else Path(self.work.name))
        except NotBuilt as error:
            self.app.display_warning(warning(error))
            return
        if version == "editable":
            return
        platform = self.build_config.builder.get_best_matching_tag().rpartition("-")[2]
        build_data["force_include"][str(built)] = f"epsilond/{built.name}"
        build_data.update(pure_python=False, tag=f"{TAG}-{platform}")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled for a wheel."""
        self.work.cleanup()


def warning(reason: Exception) -> str:
    """Return the line that tells a user that there is no kernel."""
    return f"epsilond: the compiled kernel was not built ({reason}); answers come from the slower Python reference"


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{compile_into(PACKAGE).relative_to(ROOT)}\n")
    except NotBuilt as error:
        sys.exit(warning(error))
