"""docs/benchmarks.md: each benchmark owns the text between its own pair of markers."""

from __future__ import annotations

import platform
import re
from pathlib import Path

from benchmarks.environments import ROOT
from epsilond.accountants import VERSION
from epsilond.app.settings import cores

DOCUMENT = ROOT / "docs" / "benchmarks.md"
SECTIONS = {
    "peers": "python -m benchmarks.peers",
    "everyday": "python -m benchmarks.everyday",
    "service": "python -m benchmarks.service",
}
SKELETON = """# Benchmarks

Measured, not promised: figures of one machine, which yours will not reproduce to the digit. Each part is written by
the command that stands above it; nothing here is edited by hand.

"""


def write(section: str, text: str, path: Path = DOCUMENT) -> None:
    """Put `text` between the markers of `section`; the other sections stay as they are."""
    document = path.read_text(encoding="utf-8") if path.exists() else _skeleton()
    pattern = re.compile(rf"(<!-- begin {section} -->\n).*?(<!-- end {section} -->)", re.DOTALL)
    if not pattern.search(document):
        raise ValueError(f"{path.name} has no markers for {section}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(pattern.sub(lambda found: f"{found[1]}{text.strip()}\n{found[2]}", document), encoding="utf-8")


def _skeleton() -> str:
    parts = (
        f"<!-- begin {name} -->\nNot measured yet: `{command}`\n<!-- end {name} -->"
        for name, command in SECTIONS.items()
    )
    return SKELETON + "\n\n".join(parts) + "\n"


def machine() -> str:
    """What the figures depend on and may be told: versions and cores."""
    return (
        f"epsilond {VERSION}, {platform.python_implementation()} {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {cores()} cores, one thread for each accountant"
    )
