"""The rounding of bounds on the risk, which are computed in doubles without enclosures."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from epsilond.accountants.numerics.outward import raise_by_units
from epsilond.calibrators.answer import Risk, RiskBound
from epsilond.calibrators.risk.answer import UpperBound

ROUNDING_UNITS = 4096.0
"""Bound of the relative rounding error of a bound in doubles, in units of roundoff: 4.5e-13, far above that of any."""


Bound = TypeVar("Bound", UpperBound, RiskBound)
"""A bound of the answer on risks, or of a calibration."""


def round_up_bound(bound: Bound) -> Bound:
    """Increase the value and the terms of an upper bound, so that they cover their rounding errors.

    Args:
        bound: the bound, computed in doubles.

    Returns:
        A copy in which each number is increased by `ROUNDING_UNITS` units of roundoff, relatively. A bound with a
        hidden constant, or without a value, is returned unchanged.
    """
    if bound.constant == "hidden" or bound.value is None:
        return bound
    terms = {name: raise_by_units(term, ROUNDING_UNITS) for name, term in bound.terms.items()}
    return replace(bound, value=raise_by_units(bound.value, ROUNDING_UNITS), terms=terms)


def round_up_risk(risk: Risk | None) -> Risk | None:
    """Return the risk of a calibration with its upper bound rounded up; unchanged if it has none."""
    if risk is None or risk.upper is None:
        return risk
    return replace(risk, upper=round_up_bound(risk.upper))
