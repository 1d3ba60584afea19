"""The short forms of benchmarks/chaos.py and of benchmarks/chaos_replicas.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import chaos_replicas
from benchmarks.chaos import chaos


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_is_left(tmp_path: Path) -> None:
    figures, faults = chaos("tests.app.toy_simulations", 20.0, 3, str(tmp_path / "jobs.sqlite"))
    assert not faults
    assert figures["results seen and served again"] > 0
    assert figures["workers killed"] > 0
    assert figures.get("services ended by SIGTERM", 0) + figures.get("services ended by SIGKILL", 0) > 0
    assert figures["largest service, MB"] < 400


@pytest.mark.slow
def test_two_replicas_lose_nothing_and_answer_as_the_library_does(postgresql_url: str, tmp_path: Path) -> None:
    quick = [each for each in chaos_replicas.questions() if each.path in ("/v1/simulations", "/v1/calibrations/mb-sgd")]
    figures, faults = chaos_replicas.chaos(postgresql_url, 30.0, 3, tmp_path, quick)
    assert not faults
    assert figures["answers compared with the library"] > 0
    assert figures["workers killed"] > 0
    assert figures["connections of the database ended"] > 0
