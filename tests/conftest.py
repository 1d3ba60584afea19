"""How pytest collects the tests of the project."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests with the garbage collector off, and exempt what was collected from its later passes.

    Collected tests live to the end of the session. Searching 21,000 of them for garbage takes 13 of the 35 CPU seconds
    of `python -m pytest --collect-only -q`.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
