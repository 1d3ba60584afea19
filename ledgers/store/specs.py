"""Conversion between mechanisms and the JSON text that log entries hold."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from epsilond.accountants.specs import Spec
from epsilond.calibrators.answer import as_json
from epsilond.reading import read_value


@lru_cache(maxsize=1024)
def text_of(spec: Spec) -> str:
    """Return the JSON text of a mechanism: members sorted, no white space, numbers as Python writes doubles.

    Args:
        spec: description of the mechanism.

    Returns:
        The text, which is equal for equal mechanisms.
    """
    return json.dumps(as_json(spec), sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@lru_cache(maxsize=1024)
def spec_of(text: str) -> Any:
    """Return the mechanism that a JSON text describes.

    Args:
        text: JSON text, as `text_of` returns it.

    Returns:
        The description of the mechanism.

    Raises:
        InvalidInput: the text describes no mechanism.
    """
    return read_value(Spec, json.loads(text), at="/spec")
