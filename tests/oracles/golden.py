"""Golden values of tests/golden, which were worked out apart from the code that is tested."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "golden"


def stored(name: str) -> Any:
    """Return all that a file holds."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def cases(name: str) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    found: list[dict[str, Any]] = stored(name)["cases"]
    return found


def cases_by_id(name: str) -> dict[str, dict[str, Any]]:
    """Return the cases of a file by their ids."""
    return {case["id"]: case for case in cases(name)}


def number(text: object) -> float:
    """Return the double next to a number that is written as a decimal or a fraction."""
    return float(Fraction(str(text)))
