"""Logs that cannot be written stop nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.test_service import ROOT

LOG = """
import logging, os, sys
from epsilond.app import logs
import structlog

logs.configure("info")
for place in range(3):
    structlog.get_logger().info("x" * 20_000, place=place)
    logging.getLogger("other").warning("y" * 20_000)
print("went on", file=sys.stderr)
sys.stderr.flush()
os._exit(0)
"""
ENVIRON = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_costs_lines_alone() -> None:
    arguments = [sys.executable, "-c", LOG]
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            arguments, env=ENVIRON, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (ran.returncode, ran.stderr) == (0, "went on\n")


def test_lines_are_written() -> None:
    ran = subprocess.run([sys.executable, "-c", LOG], env=ENVIRON, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line.count("x" * 20_000) + line.count("y" * 20_000) for line in ran.stdout.splitlines()] == [1] * 6
