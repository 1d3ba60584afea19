"""The short form of benchmarks/chaos.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.chaos import chaos


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_is_left(tmp_path: Path) -> None:
    figures, faults = chaos("tests.app.toy_simulations", 20.0, 3, str(tmp_path / "jobs.sqlite"))
    assert not faults
    assert figures["results seen and served again"] > 0
    assert figures["workers killed"] > 0
    assert figures.get("services ended by SIGTERM", 0) + figures.get("services ended by SIGKILL", 0) > 0
    assert figures["largest service, MB"] < 400
