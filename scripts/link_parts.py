"""Give a checkout the layout of the package: `python scripts/link_parts.py` links the top folders into src/epsilond.

Interpreters, type checkers and editors then find `epsilond.app` in the folder `app`. On Windows the links are
junctions, which need no privilege. Wheels and source distributions are packed without them.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("accountants", "app", "calibrators", "ledgers", "mechanisms", "simulators", "storage", "training", "witness")
"""The folders at the top that are packages inside epsilond."""


def link_parts(root: Path = ROOT) -> None:
    """Make each part's link that is not there."""
    for part in PARTS:
        link = root / "src/epsilond" / part
        if not link.is_dir():
            link.unlink(missing_ok=True)  # a link to nowhere, or the text that git writes where it makes no links
            _link(link, root / part)


def _link(link: Path, folder: Path) -> None:
    if sys.platform == "win32":
        from _winapi import CreateJunction  # noqa: PLC0415  (of Windows alone)

        CreateJunction(str(folder), str(link))
    else:
        link.symlink_to(Path("../..") / folder.name, target_is_directory=True)


if __name__ == "__main__":
    link_parts()
