"""Why a question takes more than half a second of CPU, one sentence for each kind that does."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {}
"""By the beginning of a question's name; the longest that fits counts."""
UNKNOWN = "not looked into yet"


def reason(name: str) -> str:
    """The sentence of the kind that the name begins with."""
    fitting = [kind for kind in REASONS if name.startswith(kind)]
    return REASONS[max(fitting, key=len)] if fitting else UNKNOWN
