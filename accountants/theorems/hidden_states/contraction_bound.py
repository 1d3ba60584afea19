"""The divergence that is left at the release when only contraction is counted: one use of the record, then kernels.

A record used at step j alone is protected by θ_ε(r_s(j)) there, and each later step k multiplies by θ_ε(r_c(k)). Where
the record's place is uniform and secret the laws are mixtures over it and the divergences average (joint convexity);
where it may be known the worst place counts. A random release averages over its step.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve import Interval
from epsilond.accountants.numerics.factor_sums import (
    ROUNDING,
    geometric_sum,
    log_scheduled_sum,
    theta_with_error,
    triangular_sum,
)
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_theta_complement

if TYPE_CHECKING:
    from epsilond.accountants.theorems.hidden_states.projected_sgd_run import Run


def log_contraction_bound(epsilon: float, run: Run, *, passes: float | None = None) -> Interval:
    """Numerical ends of log of the bound on δ(ε), in one pass or less over the clients.

    Guarantees: with every step's map and noise as in `Run`, T ≤ ⌊n/m⌋ and ε ≥ 0, e^upper is at least E_{e^ε} of the
    released model on any two neighbours, in both orders. Closed form for constant schedules, else O(T).
    `passes` is a real T for the closed form of a run that is released at its end, as papers print n/m.

    Raises:
        BeyondBudget: too many steps of changing size or noise.
    """
    if run.constant:
        ends = _closed(epsilon, run, float(run.steps) if passes is None else passes)
    else:
        ends = log_scheduled_sum(epsilon, run, run.first_stop, worst=run.known_order)
    share = -math.log(run.stops) + (0.0 if run.known_order else math.log(run.participants) - math.log(run.clients))
    slack = 8 * UNIT_ROUNDOFF * (1.0 + abs(share))
    return Interval(ends.lower + share - slack, min(ends.upper + share + slack, 0.0))


def _closed(epsilon: float, run: Run, steps: float) -> Interval:
    """log of θ_s times G_T or what takes its place."""
    sensitivity, contraction = run.shifts(1, 1)
    value, error = theta_with_error(epsilon, sensitivity)
    log_rest = float(log_theta_complement(epsilon, contraction)[0])
    rest = math.exp(log_rest)
    weight = math.log(_weight(run, rest, steps))
    # A relative error of u moves log G and log H by at most min(1, T u) of it.
    felt = min(1.0, steps * rest) * (2.0 + min(abs(log_rest), 750.0) + epsilon)
    slack = float(error[0]) + 2.0 * ROUNDING * felt + 64 * UNIT_ROUNDOFF * (1.0 + abs(weight))
    return Interval(float(value[0]) + weight - slack, float(value[0]) + weight + slack)


def _weight(run: Run, rest: float, steps: float) -> float:
    """Σ over uses and releases of (1 − u)^(steps between), for a record anywhere or at the worst place."""
    if run.known_order:
        return geometric_sum(rest, run.stops)
    if run.stops == 1:
        return geometric_sum(rest, steps)
    before = run.first_stop - 1
    if before == 0:
        return triangular_sum(rest, run.steps)
    kept = np.exp(before * np.log1p(-rest)) if rest < 1.0 else 0.0
    return run.stops * geometric_sum(rest, before) + float(kept) * triangular_sum(rest, run.stops)
