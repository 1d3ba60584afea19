"""Both sides of a comparison: the base commit in a temporary folder, and the tree at hand, each asked in a subprocess."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.frozen.answer import key_of
from tests.frozen.differences import Difference, compare

ROOT = Path(__file__).parents[2]
BASE = "f48959ba"
KERNEL = "EPSILOND_KERNEL"
"""The environment variable that turns the compiled kernel of this tree off. The base has none."""
PROGRAM = Path(__file__).with_name("answer.py")
REQUESTS = Path(__file__).with_name("requests.jsonl")
Request = Mapping[str, Any]


class NoBase(Exception):
    """The base commit is not in this clone and cannot be fetched."""


def requests(*words: str) -> list[Request]:
    """The frozen requests, or those whose name or path holds one of the words; - and _ and case make no difference."""
    found = [json.loads(line) for line in REQUESTS.read_text(encoding="utf-8").splitlines()]
    wanted = [_plain(word) for word in words]
    return [one for one in found if not wanted or any(word in _plain(one["name"] + one["path"]) for word in wanted)]


def _plain(text: str) -> str:
    return text.lower().replace("_", "-").replace(".", "-")


def full_commit(commit: str) -> str:
    """The whole name of a commit, fetched if this clone lacks it.

    Raises:
        NoBase: it cannot be had.
    """
    for attempt in ((), ("fetch", "--quiet", "--unshallow"), ("fetch", "--quiet", "origin", commit)):
        if attempt:
            _git(*attempt)
        found = _git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
        if found.returncode == 0:
            return found.stdout.decode().strip()
    raise NoBase(f"commit {commit} is not in this clone and could not be fetched")


def _git(*words: str) -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0"}
    return subprocess.run(["git", *words], cwd=ROOT, env=environment, capture_output=True, check=False)


def extracted(commit: str) -> Path:
    """The tree of a commit, extracted once into the temporary folder."""
    tree = _cache() / f"tree-{commit}"
    if not tree.is_dir():
        with tempfile.TemporaryDirectory(dir=_cache()) as folder:
            archive = Path(folder) / "tree.tar"
            subprocess.run(["git", "archive", "-o", str(archive), commit], cwd=ROOT, check=True)
            with tarfile.open(archive) as packed:
                packed.extractall(Path(folder) / "tree", filter="data")
            if (program := Path(folder) / "tree/scripts/link_parts.py").exists():
                subprocess.run([sys.executable, str(program)], check=True)
            try:
                (Path(folder) / "tree").rename(tree)
            except OSError:  # another process was faster
                if not tree.is_dir():
                    raise
    return tree


def _cache() -> Path:
    folder = Path(tempfile.gettempdir()) / f"epsilond-frozen-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _kept(commit: str) -> Path:
    """Where the answers of a commit are kept: apart for every version of what computes and of the program that asks."""
    versions = [version(name) for name in ("numpy", "scipy", "pydantic")]
    told = [commit, sys.version, platform.machine(), *versions, PROGRAM.read_text(encoding="utf-8")]
    return _cache() / f"answers-{commit[:12]}-{hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]}"


def ask(tree: Path, asked: Iterable[Request], folder: Path) -> None:
    """Have a tree answer requests into a folder.

    Raises:
        RuntimeError: it did not; with what it printed.
    """
    folder.mkdir(exist_ok=True)
    source = tree / "src" if (tree / "src" / "epsilond").is_dir() else tree
    lines = "".join(json.dumps(one) + "\n" for one in asked)
    with tempfile.TemporaryDirectory() as elsewhere:  # so that nothing is imported from where the tests run
        ran = subprocess.run(
            [sys.executable, "-P", str(PROGRAM), str(tree), str(folder)],
            input=lines,
            cwd=elsewhere,
            env={
                name: value for name, value in os.environ.items() if name == KERNEL or not name.startswith("EPSILOND_")
            }
            | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    if ran.returncode:
        raise RuntimeError(f"{tree} did not answer:\n{ran.stdout[-2000:]}{ran.stderr[-4000:]}")


def answers(folder: Path, asked: Sequence[Request]) -> dict[str, Any]:
    """The answers in a folder, by the key of their request."""
    keys = map(key_of, asked)
    return {key: json.loads((folder / f"{key}.json").read_text(encoding="utf-8")) for key in keys}


def differences(asked: Sequence[Request], commit: str = BASE, tree: Path = ROOT) -> list[Difference]:
    """What the tree at hand answers otherwise than a commit, which is asked only what it has not been asked before.

    Raises:
        NoBase: the commit cannot be had.
        RuntimeError: one of them does not answer.
    """
    whole = full_commit(commit)
    kept = _kept(whole)
    missing = [one for one in asked if not (kept / f"{key_of(one)}.json").exists()]
    if missing:
        ask(extracted(whole), missing, kept)
    with tempfile.TemporaryDirectory() as folder:
        ask(tree, asked, Path(folder))
        new = answers(Path(folder), asked)
    old = answers(kept, asked)
    return [each for one in asked for each in compare(one["name"], old[key_of(one)], new[key_of(one)])]


def short_form(asked: Sequence[Request], stride: int) -> list[Request]:
    """The first request of every path, and of the others every so many: each algorithm and theorem is asked."""
    seen: set[str] = set()
    chosen = []
    for place, one in enumerate(asked):
        if one["path"] not in seen or place % stride == 0:
            chosen.append(one)
        seen.add(one["path"])
    return chosen


def report(found: Sequence[Difference], most: int = 40) -> str:
    """The differences as text: failures, then sentences whose figures differ, then the other remarks."""
    failures = [each for each in found if each.kind == "failure"]
    remarks = [each for each in found if each.kind == "remark"]
    parts = (
        ("differ", failures),
        (
            "sentences with other figures (they do not fail; read them)",
            [each for each in remarks if each.moves_a_figure],
        ),
        ("sentences worded differently (they do not fail)", [each for each in remarks if not each.moves_a_figure]),
    )
    lines: list[str] = []
    for title, part in parts:
        if part:
            lines += [f"{len(part)} {title}:", *map(str, part[:most])]
            lines += [f"… and {len(part) - most} more"] if len(part) > most else []
    return "\n".join(lines)
