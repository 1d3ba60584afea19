"""An exhibit of the paper: a measurement as numbers, and the words, tables and figures made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scripts.pages.svg import Plot

Measured = dict[str, Any]
"""JSON: the numbers in full."""
Words = Mapping[str, str]
"""What the places of the text are filled with, by name."""


@dataclass(frozen=True)
class Exhibit:
    """`measure(short)` computes the numbers, or some of the rows for tests; `words` and `figures` only show them."""

    name: str
    about: str
    measure: Callable[[bool], Measured]
    words: Callable[[Measured], Words]
    figures: Callable[[Measured], Mapping[str, Plot]] = lambda _: {}
