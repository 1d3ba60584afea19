"""Random examples of Hypothesis: they do not depend on the modules that the process has imported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st


def draw_integers() -> list[int]:
    """Return the integers that a test without state draws."""
    drawn: list[int] = []

    @settings(max_examples=200, derandomize=True, database=None, phases=(Phase.generate,))
    @given(st.integers())
    def collect(number: int) -> None:
        drawn.append(number)

    collect()
    return drawn


def test_constants_of_imported_modules_are_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = draw_integers()
    constants = [10**9 + 7 * index for index in range(200)]
    (tmp_path / "module_with_constants.py").write_text(f"CONSTANTS = {constants}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("module_with_constants")
    try:
        assert draw_integers() == before
    finally:
        del sys.modules["module_with_constants"]
