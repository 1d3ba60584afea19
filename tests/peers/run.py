"""Runs one suite of a peer, with the peer's own accountants or with ours, and prints its counts as JSON.

EPSILOND_PEERS=FOLDER python -m tests.peers.run "dp-accounting PLD" [own | older]

own     let the peer's own accountants answer
older   ours is an older version: what it lacks counts as rejected
"""

import contextlib
import importlib
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.peers import older, rewriting
from tests.peers.counting import Counter
from tests.peers.suites import SUITES


def run(suite, folder, *, own, is_older=False):
    """Run the suite, and return its outcomes by test.

    Args:
        suite: the suite.
        folder: the folder with the peers' source trees.
        own: whether the peer's own accountants answer.
        is_older: whether ours is an older version, so that what it lacks counts as rejected.
    """
    with contextlib.ExitStack() as stack:
        return _run(suite, Path(folder), stack, own=own, is_older=is_older)


def _run(suite, folder, stack, *, own, is_older):
    """Run a suite with resources that `stack` closes."""
    tree = folder / suite.peer
    for path in reversed([*(tree / path for path in suite.paths), *(Path(folder, need) for need in suite.needs)]):
        sys.path.insert(0, str(path))
    counter = Counter(older.is_lack) if is_older else Counter()
    # In a folder of their own, because a test module inside a package would load that package.
    copies = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    files = [Path(shutil.copy(tree / file, copies)) for file in suite.files]
    for conftest in {(tree / file).with_name("conftest.py") for file in suite.files}:
        if conftest.exists():
            shutil.copy(conftest, copies)
    sys.dont_write_bytecode = True
    importlib.import_module(f"tests.peers.adapters.{suite.adapter}").install(counter.use, own=own)
    counter.install()
    rewriting.install(files, counter.check)
    options = ["-q", "-p", "no:cacheprovider", "--assert=plain", "-W", "ignore", "-c", os.devnull]
    options += ["--rootdir", str(copies), "--override-ini=python_files=*.py", "--import-mode=importlib"]
    options += ["-k", suite.keyword] if suite.keyword else []
    started = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        status = pytest.main([*options, *map(str, files)], plugins=[counter])
    return {
        "suite": suite.name,
        "own": own,
        "status": int(status),
        "seconds": round(time.perf_counter() - started, 1),
        "tests": counter.tests,
        "stops": counter.stops,
        "ours": sorted(counter.ours),
    }


if __name__ == "__main__":
    own, is_older = (word in sys.argv[2:] for word in ("own", "older"))
    json.dump(run(SUITES[sys.argv[1]], os.environ["EPSILOND_PEERS"], own=own, is_older=is_older), sys.stdout)
