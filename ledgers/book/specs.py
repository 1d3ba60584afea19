"""Mechanisms as texts: the one JSON text that stands in entries, and the spec that it is read back to."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from epsilond.accountants.specs import Spec
from epsilond.calibrators.answer import as_json
from epsilond.reading import read_value


def text_of(spec: object) -> str:
    """The JSON of a mechanism with its members in order and no white space; numbers as Python writes doubles."""
    return json.dumps(as_json(spec), sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@lru_cache(maxsize=1024)
def spec_of(text: str) -> Any:
    """The mechanism of a text.

    Raises:
        InvalidInput: it is none.
    """
    return read_value(Spec, json.loads(text), at="/spec")
