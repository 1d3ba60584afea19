"""The least bound on δ from a Rényi divergence: some pair with two likelihood ratios attains it.

Let X = dP/dQ and D_a(P‖Q) ≤ D for an order a = b + 1 > 1. Then P has a density, E_Q[X] = 1, and E_Q[X^a] ≤ M = e^{bD}.
Let 0 < t₁ < t₂. B(t) = t^a − t₁^a − a t₁^b (t − t₁) is the excess of t^a over its tangent at t₁. Its slope at t₂ is
k = a (t₂^b − t₁^b). B is convex and at least 0, so B(t)/k ≥ B(t₂)/k + t − t₂. Therefore B(t)/k ≥ max(0, t − γ) at every
t ≥ 0 if t₂ − B(t₂)/k ≤ γ. With v = log(t₂/t₁) and g(y) = log((1 − e^−y)/y) this is:

    log t₂ ≤ log γ + g(bv) − g(av).

The mean of B under Q is E_Q[B(X)] = E_Q[X^a] − 1 + B(1), and E_γ(P‖Q) = E_Q[max(0, X − γ)]. Hence:

    E_γ(P‖Q) ≤ (M − 1 + B(1))/k      for every a > 1 and every v > 0 that meets the condition.

With v = ∞ it is Proposition 12 of Canonne, Kamath and Steinke (2020). An X with the values t₁ and t₂ only, and with
E_Q[X^a] = M, has equality. For a → 1 the bound is that of the Kullback–Leibler divergence.

**The region of tests.** A test with the true positive rate p and the false positive rate q maps (P, Q) to two binary
distributions. By the data processing inequality their divergences are at most those of (P, Q), in both directions. Let
R be the set of all (q, p) with D_a(p‖q) ≤ D(a) and D_a(q‖p) ≤ D(a) at all a. It has the rates of every test, so that
E_γ is at most the supremum of p − γq over R. Every point of R is itself a pair with these divergences. No smaller
bound on δ or on a true positive rate follows from them.

R is an intersection of convex sets, one for each a and direction, since p^a q^{1−a} is convex. The supremum is attained
where 0 < p, q < 1. By convex duality it is the greatest convex function of γ below all bounds of both directions. Those
of (Q, P) bound E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P).

**Orders up to 1.** D_a does not decrease in a. From D_a ≤ D(a) for a > 1 follows D_a ≤ inf D for a ≤ 1, and
D_a(P‖Q) = a/(1 − a) D_{1−a}(Q‖P) for 0 < a < 1. Every point of R has these, so that they make R no smaller. ρ-zCDP
does not imply D_a ≤ ρa for a < 1: randomized response with ρ = ε tanh(ε/2) has D_a > ρa there for large ε.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_UNITS = 32.0
"""Units of roundoff by which a sum of logarithms is raised, per unit of 1 + the sum of their sizes."""


LEAST_DIVERGENCE = 1e-24
"""Least divergence D that gives a bound. For a smaller one, the logarithms of the best ratios are below rounding."""


def binary_log_bound(
    epsilon: FloatArray, *, order_excess: FloatArray, divergence: FloatArray, log_ratio: FloatArray
) -> FloatArray:
    """Compute the log of an upper bound on δ, the hockey-stick divergence E_γ(P‖Q), from a Rényi divergence.

    Let the Rényi divergence of order a be at most D, and b = a − 1. For two likelihood ratios t₁ and t₂ = t₁ e^v:

        E_γ(P‖Q) ≤ (e^{bD} − 1 + B(1))/(a (t₂^b − t₁^b))    if    log t₂ ≤ log γ + g(bv) − g(av).

    Here B(t) = t^a − t₁^a − a t₁^b (t − t₁) is the excess of t^a over its tangent at t₁, and g(y) = log((1 − e^−y)/y).
    The function uses the largest such t₂, rounded down. The module docstring has the proof.

    Args:
        epsilon: array of ε = log γ ≥ 0, in nats.
        order_excess: b = a − 1 > 0 for the order a, one for each ε.
        divergence: upper bound D on the divergence of order a, in nats, one for each ε.
        log_ratio: v > 0, one for each ε. Every value gives a valid bound.

    Returns:
        The natural logarithms, rounded up. They are ∞ where t₁ ≥ 1, where numbers leave the range of doubles, and for D
        below `LEAST_DIVERGENCE`.

    Guarantees:
        E_{e^ε}(P‖Q) is at most the exponential of the result for every pair with D_a(P‖Q) ≤ D.
    """
    b, v = order_excess, log_ratio
    margin = _UNITS * UNIT_ROUNDOFF  # more than the errors of a sum of logarithms, relative to their sizes
    with np.errstate(all="ignore"):
        # log t₂ = log γ + g(bv) − g(av), rounded down.
        g_of_bv, g_of_av = _log_mean_decay(b * v), _log_mean_decay((1.0 + b) * v)
        log_t2 = epsilon + g_of_bv - g_of_av
        log_t2 = log_t2 - margin * (1.0 + epsilon + np.abs(g_of_bv) + np.abs(g_of_av))

        # The numerator e^{bD} − 1 + B(1).
        exponent = b * divergence
        log_moment_excess = exponent + np.log(-np.expm1(-exponent))
        log_numerator = np.logaddexp(log_moment_excess, np.log(_excess_at_one(b, v - log_t2)))

        # The denominator a (t₂^b − t₁^b) = a t₂^b (1 − e^{−bv}).
        log_order, log_power, log_share = np.log1p(b), b * log_t2, np.log(-np.expm1(-b * v))
        value = log_numerator - log_order - log_power - log_share
        sizes = sum(map(np.abs, (log_numerator, log_order, log_power, log_share)))
        # Rounded up.
        value = value + margin * (1.0 + exponent + sizes)
    t1_is_below_one = v > log_t2
    is_valid = t1_is_below_one & (value < math.inf) & (divergence >= LEAST_DIVERGENCE)
    return np.asarray(np.where(is_valid, value, math.inf))


def _log_mean_decay(y: FloatArray) -> FloatArray:
    """Return g(y) = log((1 − e^−y)/y), the logarithm of the mean of e^−z over 0 < z < y.

    Args:
        y: array of numbers above 0.
    """
    return np.asarray(np.log(-np.expm1(-y) / y))


def _excess_at_one(b: FloatArray, distance: FloatArray) -> FloatArray:
    """Return an upper bound on B(1), the excess of the power t^a at t = 1 over its tangent at t₁ = e^−x.

    With b = a − 1, the excess is:

        B(1) = a (1 − e^{−bx}) − b (1 − e^{−ax}) = ab ∫₀^x e^{−bz} (1 − e^−z) dz.

    It is at most ab x²/2, because the integrand is at most z. It is also at most:

        ab ∫₀^x z e^{−bz} dz = (a/b) (1 − (1 + bx) e^{−bx}).

    The result is the least of these three, each of which is accurate for some x.

    Args:
        b: array of a − 1 > 0.
        distance: array of x > 0.
    """
    a, product = 1.0 + b, b * distance
    margin = _UNITS * UNIT_ROUNDOFF

    # The difference of two positive terms is raised by more than its rounding error.
    positive, negative = -a * np.expm1(-product), -b * np.expm1(-a * distance)
    exact = positive - negative + margin * (positive + negative)

    near = 0.5 * a * product * distance * (1.0 + margin)
    moment = -np.expm1(-product) - product * np.exp(-product) + margin * np.minimum(product, 1.0)
    far = a / b * moment * (1.0 + margin)
    return np.asarray(np.minimum(np.minimum(exact, near), far))
