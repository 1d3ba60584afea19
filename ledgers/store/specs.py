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
    """Return the canonical JSON text of a mechanism, which is equal for equal descriptions.

    Members are sorted, white space is left out, and numbers are written as Python writes doubles.

    Args:
        spec: description of the mechanism.
    """
    return json.dumps(as_json(spec), sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@lru_cache(maxsize=1024)
def spec_of(text: str) -> Any:
    """Read the description of a mechanism from its JSON text.

    Args:
        text: JSON text, as `text_of` returns it.

    Returns:
        The description, an instance of one of the classes in `Spec`.

    Raises:
        InvalidInput: the text describes no mechanism.
    """
    return read_value(Spec, json.loads(text), at="/spec")
