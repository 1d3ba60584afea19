"""Random examples of Hypothesis: they do not depend on the modules that the process has imported."""

from __future__ import annotations

import importlib.util
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


def test_environments_without_hypothesis_are_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    # The environments of the integrations load tests/conftest.py too. `None` in sys.modules means: not installed.
    for name in [name for name in sys.modules if name.partition(".")[0] == "hypothesis"]:
        monkeypatch.setitem(sys.modules, name, None)
    spec = importlib.util.spec_from_file_location(
        "conftest_without_hypothesis", Path(__file__).with_name("conftest.py")
    )
    assert spec is not None
    assert spec.loader is not None
    conftest = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conftest)
    conftest.pytest_configure()
