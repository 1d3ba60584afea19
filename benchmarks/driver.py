"""Talks to a runner: one process for each peer, one question at a time, one JSON object a line."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.environments import ROOT, Peer, Unavailable, interpreter, single_threaded


class Runner:
    """A peer's interpreter, waiting for questions.

    Raises:
        Unavailable: the peer cannot be installed, or does not start.
    """

    def __init__(self, peer: Peer, cache: Path) -> None:
        self.peer = peer
        command = [str(interpreter(peer, cache)), "-m", peer.module]
        self._log = cache / f"{peer.name}.log"
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=single_threaded(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        hello = self._answer()
        if hello is None:
            self.close()
            said = self._log.read_text(encoding="utf-8").strip().splitlines()
            raise Unavailable(f"does not start: {said[-1][:160] if said else 'no reason given'}")
        self.version: str = hello["version"]

    def ask(self, case: Case, accountant: str, *, seconds: int, megabytes: int) -> dict[str, Any]:
        """The measured answer, or why there is none: `killed` if it was ended from outside."""
        request = {**case.body(), "accountant": accountant, "seconds": seconds, "megabytes": megabytes}
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        return self._answer() or {"killed": "its runner ended"}

    def close(self) -> None:
        """Let the runner end."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _answer(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return None if not line else dict(json.loads(line))
