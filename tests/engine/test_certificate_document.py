"""docs/engine-certificate.md names what relies on each lemma; all of it exists."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "engine-certificate.md").read_text(encoding="utf-8")
NAMES = re.findall(r"`([^`\s]+)`", DOCUMENT)


def test_every_test_it_names_exists() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = sorted({name for name in NAMES if name.startswith("test_") and not name.endswith((".py", "…"))})
    assert len(named) > 25
    assert [name for name in named if f"def {name}(" not in sources] == []


@pytest.mark.parametrize("name", sorted({name for name in NAMES if re.fullmatch(r"[a-z_]+(\.\w+)+", name)}))
def test_every_function_it_names_exists(name: str) -> None:
    if name.endswith(".py"):
        assert any((ROOT / folder / name).exists() for folder in ("accountants/engine", "tests/engine", "."))
        return
    found = _resolved(name)
    assert found is not None, name


def _resolved(name: str) -> object:
    """What the document calls by a path below the engine's folder, or below `accountants`."""
    for home in ("epsilond.accountants.engine", "epsilond.accountants"):
        try:
            return pkgutil.resolve_name(f"{home}.{name}")
        except (ImportError, AttributeError):
            continue
    return None
