"""The hook of hatchling's build: it maps the folders at the top into the package, and adds the compiled kernel.

An editable installation gets links in place of the mapping. Without a C compiler the package is built without the
kernel, and says so in one line: it answers from Python then.
"""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
PACKAGE = "src/epsilond"


class PackageHook(BuildHookInterface[Any]):
    """Completes a wheel, or the checkout of an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the folders and the kernel where the package has them."""
        self.work = tempfile.TemporaryDirectory()
        layout = runpy.run_path(str(ROOT / "scripts/link_parts.py"))
        if version == "editable":
            layout["link_parts"]()
            self._kernel(ROOT / PACKAGE)
        else:
            build_data["force_include"] |= {str(ROOT / part): f"epsilond/{part}" for part in layout["PARTS"]}
            self._add_kernel(build_data)

    def _add_kernel(self, build_data: dict[str, Any]) -> None:
        """Compile the kernel for a wheel, and give the wheel the tag that it then needs."""
        built = self._kernel(Path(self.work.name))
        if built is None:
            return
        platform = self.build_config.builder.get_best_matching_tag().rpartition("-")[2]
        build_data["force_include"][str(built)] = f"epsilond/{built.name}"
        build_data.update(pure_python=False, tag=f"cp311-abi3-{platform}")  # for every CPython from 3.11 on

    def _kernel(self, folder: Path) -> Path | None:
        """Compile the kernel into a folder; None if that cannot be, which is told."""
        program = runpy.run_path(str(ROOT / "kernel/build.py"))
        try:
            built: Path = program["compile_into"](folder)
        except program["NotBuilt"] as error:
            self.app.display_warning(program["warning"](error))
            return None
        return built

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled for a wheel."""
        self.work.cleanup()
