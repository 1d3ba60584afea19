"""Whoever is killed at any statement of a move leaves neither a debit without its entry nor an entry without its debit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_a_move_that_is_killed_was_made_or_was_not(place):
    command = [sys.executable, "-m", "tests.ledgers.store.killed", place]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    places, made = map(int, ran.stdout.split())
    assert places >= 12  # the statements of a move, its COMMIT, and what follows
    assert made == 2  # by who was killed after its COMMIT, and by who was through
