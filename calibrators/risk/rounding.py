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


def rounded_up(bound: Bound) -> Bound:
    """Return a bound with its rounding errors added to value and terms; unchanged if it has a hidden constant."""
    if bound.constant == "hidden" or bound.value is None:
        return bound
    terms = {name: raise_by_units(term, ROUNDING_UNITS) for name, term in bound.terms.items()}
    return replace(bound, value=raise_by_units(bound.value, ROUNDING_UNITS), terms=terms)


def rounded_risk(risk: Risk | None) -> Risk | None:
    """Return the risk of a calibration with its upper bound rounded up; None if there is none."""
    if risk is None or risk.upper is None:
        return risk
    return replace(risk, upper=rounded_up(risk.upper))
