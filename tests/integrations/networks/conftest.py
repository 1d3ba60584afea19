"""Folders of small images, for every test with networks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integrations.networks.small_images import CACHES, shrink, write_images


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Path]]:
    """Yield the folders of small data sets, and let experiments be as small."""
    folders = write_images(tmp_path)
    shrink(monkeypatch)
    yield folders
    for cache in CACHES:
        cache.cache_clear()
