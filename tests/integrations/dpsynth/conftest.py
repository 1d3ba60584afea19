"""The source trees of dpsynth and of its mbi, which no package index has: folders of EPSILOND_PEERS."""

import os
import sys
from pathlib import Path

FOLDERS = ("dpsynth", "mbi/src", "dp_accounting/python/dp_accounting")
"""Folders with the packages. Without the last one, the installed dp-accounting is used."""

for folder in reversed(FOLDERS):
    path = Path(os.environ.get("EPSILOND_PEERS", os.devnull), folder)
    if path.is_dir():
        sys.path.insert(0, str(path))
