"""Answers as JSON bytes."""

from __future__ import annotations

import json
from typing import Any

from epsilond.calibrators.answer import as_json


def render(answer: Any) -> bytes:
    """The JSON form of an answer: absent parts dropped, infinities spelled out, nothing that is not JSON.

    Raises:
        ValueError: it holds a NaN, which no answer may.
    """
    return json.dumps(as_json(answer), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
