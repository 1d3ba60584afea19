"""An exhibit of the paper: a measurement as numbers, and the words, tables and figures made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scripts.pages.svg import Plot

Measured = dict[str, Any]
"""JSON: the numbers in full."""
Words = Mapping[str, str]
"""Texts for the places of the template, by name."""


@dataclass(frozen=True)
class Exhibit:
    """An exhibit of the paper: a table or figure with the numbers that the text states.

    Attributes:
        name: name in the template.
        about: subject.
        measure: function that computes the numbers; with True only some of the rows, for tests.
        words: function from the numbers to texts by name.
        figures: function from the numbers to figures by name.
    """

    name: str
    about: str
    measure: Callable[[bool], Measured]
    words: Callable[[Measured], Words]
    figures: Callable[[Measured], Mapping[str, Plot]] = lambda _: {}
