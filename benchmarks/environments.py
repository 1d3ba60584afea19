"""The peers, and a virtual environment for each, made once in a cache folder outside the project."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.cases import calibrations, forward, small
from benchmarks.rows import WITH_KERNEL

ROOT = Path(__file__).parents[1]
RUNNERS = Path(__file__).parent / "runners"
INSTALL_SECONDS = 600
ARITHMETIC = ("numpy==2.4.6", "scipy==1.17.1")
"""The versions this project is locked to."""


@dataclass(frozen=True)
class Accountant:
    """One way a peer computes. `only` names the cases it is asked, where it is not asked all."""

    name: str
    computes: str
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Peer:
    """A package, what to install for it, and its accountants. `bare` is installed without what it depends on."""

    name: str
    accountants: tuple[Accountant, ...]
    packages: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """Its runner."""
        return f"benchmarks.runners.{self.name.replace('-', '_')}"

    @cached_property
    def fingerprint(self) -> str:
        """Changes when what is installed or how it is asked does; for this project, when its mathematics does.

        Taken once, as a runner too imports its files once.
        """
        files = [RUNNERS / "loop.py", RUNNERS / f"{self.module.rpartition('.')[2]}.py"]
        files += [] if self.packages else [*ROOT.glob("accountants/**/*.py"), *ROOT.glob("calibrators/*.py")]
        files += [] if self.packages else ROOT.glob("kernel/src/*.[ch]")
        digest = hashlib.sha256(json.dumps([self.packages, self.bare]).encode())
        for file in sorted(files):
            digest.update(file.read_bytes())
        return digest.hexdigest()[:16]


OURS = Peer(
    "epsilond",
    (
        Accountant("epsilond", "certified enclosures; the value is the upper end"),
        Accountant(
            WITH_KERNEL,
            "the same with the compiled kernel of the folder kernel/, where that is installed",
            only=tuple(case.id for case in (*forward(), *small(), *calibrations())),
        ),
    ),
)
PEERS = (
    Peer(
        "dp-accounting",
        (
            Accountant("dp-accounting PLD", "loss distribution on its default grid of 1e-4, rounded up, FFT"),
            Accountant("dp-accounting RDP", "Rényi divergences at its default orders: an upper bound, not tight"),
        ),
        ("dp-accounting==0.6.0", *ARITHMETIC),
    ),
    Peer(
        "prv-accountant",
        (Accountant("prv-accountant", "FFT; ε within 0.1 (its default), δ within δ/1000; the value is its upper end"),),
        ("prv-accountant==0.2.0", *ARITHMETIC),
    ),
    Peer(
        "autodp",
        (
            Accountant("autodp RDP", "Rényi divergences: an upper bound, not tight"),
            Accountant(
                "autodp AFA",
                "characteristic functions by quadrature; over the limit on every query tried, hence asked one only",
                only=("ε q=0.01 z=1 T=1e3",),
            ),
        ),
        ("autodp==0.2.3.1", "numpy==1.26.4", "scipy==1.13.1"),  # it calls functions that later ones dropped
    ),
    Peer(
        "riskcal",
        (Accountant("riskcal CTD", "dp-accounting's loss distribution underneath, grid of 1e-4, rounded up"),),
        ("riskcal==1.5.1", "dp-accounting==0.6.0", *ARITHMETIC),
    ),
    Peer(
        "opacus",
        (
            Accountant("Opacus PRV", "FFT; ε within 0.01, δ within δ/1000 (its defaults); the value is its upper end"),
            Accountant("Opacus RDP", "Rényi divergences at its default orders: an upper bound, not tight"),
            Accountant("Opacus GDP", "central limit approximation; by its own warning it can underestimate"),
        ),
        ARITHMETIC,
        ("opacus==1.6.0",),
    ),
)


class Unavailable(Exception):
    """A peer that cannot be had here, with the reason in a few words."""


def interpreter(peer: Peer, cache: Path) -> Path:
    """The peer's Python, with the peer installed; ours is the one that runs this.

    Raises:
        Unavailable: the environment cannot be made, or the registry refuses.
    """
    if not peer.packages:
        return Path(sys.executable)
    home = cache / "environments" / peer.name
    python, stamp, wanted = home / "bin" / "python", home / "installed", " ".join((*peer.packages, *peer.bare))
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    _run("no virtual environment", [sys.executable, "-m", "venv", "--clear", str(home)])
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run("cannot be installed", [*pip, *peer.packages])
    if peer.bare:
        _run("cannot be installed", [*pip, "--no-deps", *peer.bare])
    stamp.write_text(wanted, encoding="utf-8")
    return python


def _run(what: str, command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{what}: {type(error).__name__}") from None
    if done.returncode != 0:
        raise Unavailable(f"{what}: {shortened(done.stderr or done.stdout)}")


def shortened(said: str) -> str:
    """The first line that says what is wrong, without addresses and paths."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = next((line for line in lines if line.startswith("ERROR:")), lines[-1] if lines else "no reason given")
    return re.sub(r"\S*(://|/)\S*", "…", telling.removeprefix("ERROR:").strip())[:160]


def single_threaded() -> dict[str, str]:
    """The environment of a runner: one thread, and nothing of ours on its path but this project's root."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, "1"), "PYTHONDONTWRITEBYTECODE": "1"}
