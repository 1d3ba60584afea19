"""One plain statement of a guarantee, and its subject."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

About = Literal["protects", "neighbours", "against", "trusted", "condition", "sampling", "not-protected", "declared"]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One plain statement of a guarantee, and its subject."""

    about: About
    text: str
