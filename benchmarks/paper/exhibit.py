"""What an exhibit is: a measurement of the paper, as numbers, and the words, tables and figures made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scripts.pages.svg import Plot

Measured = dict[str, Any]
"""JSON: the numbers in full."""
Words = Mapping[str, str]
"""What the places of the text are filled with, by name."""


def no_figures(measured: Measured) -> Mapping[str, Plot]:
    """Nothing is drawn."""
    del measured
    return {}


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One measurement.

    `measure(short)` computes the numbers; its short form, for tests, may leave rows out and computes the others alike.
    `words` says them, `figures` draws them; neither computes anything that is not in the numbers.
    """

    name: str
    about: str
    measure: Callable[[bool], Measured]
    words: Callable[[Measured], Words]
    figures: Callable[[Measured], Mapping[str, Plot]] = no_figures
