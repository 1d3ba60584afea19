"""Best tests between two finite laws from the definition of Neyman and Pearson, in exact fractions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

Law = Mapping[Any, Fraction]


def best_true_positive_rate(p: Law, q: Law, rate: Fraction) -> Fraction:
    """The largest P(reject) of randomized tests with Q(reject) = rate: outcomes by falling ratio until the rate is spent."""
    outcomes = {*p, *q}
    nothing = Fraction(0)

    def ratio(outcome: Any) -> tuple[bool, Fraction]:
        first, second = p.get(outcome, nothing), q.get(outcome, nothing)
        return (second == 0, first if second == 0 else first / second)

    left, power = rate, nothing
    for outcome in sorted(outcomes, key=ratio, reverse=True):
        first, second = p.get(outcome, nothing), q.get(outcome, nothing)
        share = Fraction(1) if second <= left else left / second
        power += share * first
        left -= share * second
    return power


def least_error(p: Law, q: Law, prior: Fraction) -> Fraction:
    """The least error of a decision between P and Q with a prior of one of them, whichever of the two it is."""
    errors = []
    for first, second in ((p, q), (q, p)):
        pairs = [(first.get(x, Fraction(0)), second.get(x, Fraction(0))) for x in {*p, *q}]
        errors.append(sum((min(prior * a, (1 - prior) * b) for a, b in pairs), Fraction(0)))
    return min(errors)
