"""The bound RS of `certified_bound.py` on the excess risk with cancelled noise, by stability."""

from __future__ import annotations

import math

import numpy as np

from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.theorems.risk.reshef_levy.cancellation_run import CancellationRun

AGES = 4096
"""Number of ages l (numbers of rounds) that are tried one by one; as many more are tried on a geometric grid."""

_NEGLIGIBLE = 60.0
"""Exponent x at which e^(−x) is neglected; e^(−60) is far below the roundoff of a double."""

_LARGEST_LOG_KAPPA = 600.0
"""Upper limit of log κ, so that κ is a finite double. The ages that minimise the bound have a smaller log κ."""


def stability_bound(
    run: CancellationRun, *, base: float, noise_variance: float, step_size: float, thorough: bool
) -> float:
    """Bound the excess risk of the algorithm of Reshef and Levy by the stability of its iterates.

    m of M clients report in each of T rounds. Let p = m/M, A = T(T + 1)/2 and h = 2ηLT < 1, for the smoothness L. For
    the dimension d, any age l in 1, …, T and any weight λ in (0, 1 − h), the excess risk is at most:

        [base + κηcdA/(mp) + ηcd(1 − p)^l (T − l)(T − l + 1)/(4λmp²)]/(A(1 − h/(1 − λ))).

    Here the noise of the last l rounds counts as recent: it has little effect on the iterates, which is expressed by
    the factor κ (`log_kappa`). The result is the least of these bounds over many ages and all weights. The proof is in
    `certified_bound.py`.

    Args:
        run: the clients, rounds and constants of the losses.
        base: the part of the numerator without noise.
        noise_variance: c; after N reports, a client's noise has the variance cN in each coordinate.
        step_size: step size η.
        thorough: if true, up to a million ages l are tried one by one; otherwise `AGES` of them.

    Returns:
        The bound, in units of the loss; infinite if no age gives a positive denominator.
    """
    ages = candidate_ages(run, step_size, thorough=thorough)
    feedback = 2.0 * step_size * run.smoothness * run.rounds  # h
    rate, weight_sum, rounds = run.rate, run.steps, float(run.rounds)  # p, A, T

    # The terms of recent noise, and those of earlier noise times λ, one entry for each age l.
    noise_scale = step_size * noise_variance * run.dimension / run.participants  # ηcd/m
    kappa = np.exp(log_kappa(run, step_size, ages))
    recent_noise = noise_scale * weight_sum / rate * kappa
    earlier_rounds = (rounds - ages) * (rounds - ages + 1.0)
    old_noise = noise_scale * 0.25 / (rate * rate) * _absence_powers(rate, ages) * earlier_rounds

    weight = _best_weights(base + recent_noise, old_noise, feedback)
    with np.errstate(divide="ignore", invalid="ignore"):
        weighted_old_noise = np.where(old_noise > 0.0, old_noise / weight, 0.0)
        remaining = np.where(feedback > 0.0, 1.0 - feedback / (1.0 - weight), 1.0)  # 1 − h/(1 − λ)
        bounds = (base + recent_noise + weighted_old_noise) / (weight_sum * remaining)
    valid_bounds = np.where(remaining > 0.0, bounds, np.inf)
    return float(np.min(valid_bounds))


def _best_weights(recent: FloatArray, old: FloatArray, feedback: float) -> FloatArray:
    """Return the λ in [0, 1 − h] that minimises a bound on the excess risk, elementwise.

    The bound is:

        (r + o/λ)/(1 − h/(1 − λ)).

    The minimiser solves a quadratic equation. With f = 1 − h it is λ = f · o/(o + √(h o (o + f r))), a form without
    cancellation. It is 0 if o = 0.

    Args:
        recent: r > 0, the part of the numerator that does not depend on λ.
        old: o ≥ 0, the part that is divided by λ.
        feedback: h in [0, 1), from the smoothness of the losses.

    Returns:
        An array of weights, one per entry of `old`.
    """
    largest_weight = 1.0 - feedback
    root = np.sqrt(feedback * old * (old + largest_weight * recent))
    smallest_divisor = 1e-300  # avoids 0/0 if both numbers are 0
    share = np.where(old > 0.0, old / np.maximum(old + root, smallest_divisor), 0.0)
    return np.asarray(largest_weight * share)


def log_kappa(run: CancellationRun, step_size: float, ages: FloatArray) -> FloatArray:
    """Return log κ for the factor κ ≥ 1 that the risk bound by stability has for the noise of the last l rounds.

    It is:

        log κ = 2ηL Σ_{a<l} a² = 2ηL (l − 1)l(2l − 1)/6,

    but at most `_LARGEST_LOG_KAPPA`, so that κ is a finite double.

    Args:
        run: the run, with the smoothness L ≥ 0 of its losses.
        step_size: step size η > 0.
        ages: array of numbers l ≥ 1 of rounds.

    Returns:
        An array of the shape of `ages`.
    """
    factor = 2.0 * step_size * run.smoothness  # 2ηL
    log_of_kappa = factor * (ages - 1.0) * ages * (2.0 * ages - 1.0) / 6.0
    return np.asarray(np.minimum(log_of_kappa, _LARGEST_LOG_KAPPA))


def _absence_powers(rate: float, ages: FloatArray) -> FloatArray:
    """Return the probabilities (1 − p)^l that a client does not report in l rounds.

    Args:
        rate: probability p that a client reports in a round, in (0, 1].
        ages: numbers l of rounds, at least 1.

    Returns:
        An array of the shape of `ages`.
    """
    if rate == 1.0:
        return np.zeros_like(ages)
    return np.exp(ages * math.log1p(-rate))


def candidate_ages(run: CancellationRun, step_size: float, *, thorough: bool) -> FloatArray:
    """Return the values of l for which a bound on the excess risk by stability is computed, to find the least one.

    The bound treats the noise of the last l rounds as recent, and older noise in another way. Beyond the largest l, the
    factor (1 − p)^l/p² of old noise is below e^−60, or the factor κ of `log_kappa` exceeds e^60. If the losses are
    linear, the number T of rounds is tried too.

    Args:
        run: the number T of rounds, the probability p that a client reports in a round, and the smoothness L.
        step_size: step size η.
        thorough: if true, up to a million numbers are tried one by one; otherwise `AGES` of them. A geometric grid
            follows in either case.

    Returns:
        An array of integers as doubles, at least 1.
    """
    # From this age on, (1 − p)^l/p² is negligible.
    last = 1.0
    if run.rate < 1.0:
        last_with_absence = math.ceil((_NEGLIGIBLE - 2.0 * math.log(run.rate)) / -math.log1p(-run.rate))
        last = min(float(run.rounds), last_with_absence)

    # From this age on, κ is huge: log κ is about 2ηLl³/3, which is 60 at l³ = 1.5 · 60/(ηL).
    curvature = step_size * run.smoothness
    if curvature > 0.0:
        last_with_small_kappa = math.ceil((1.5 * _NEGLIGIBLE / curvature) ** (1.0 / 3.0)) + 1.0
        last = min(last, last_with_small_kappa)

    single_ages = 10**6 if thorough else AGES
    ages = np.arange(1.0, min(last, single_ages) + 1.0)
    if last > single_ages:
        geometric_ages = np.floor(np.geomspace(single_ages + 1.0, last, AGES))
        ages = np.append(ages, np.unique(geometric_ages))

    is_linear = curvature == 0.0
    if is_linear:
        ages = np.append(ages, float(run.rounds))
    return ages


def stated_criterion(run: CancellationRun, *, step_size: float) -> float:
    """Return a number that decides whether the risk bound of Theorem 5.2 of Reshef and Levy is proved.

    For m of M clients in a round, it is the least value of:

        κ + (M/m)(1 − m/M)^l

    over numbers l of last rounds with noise that counts as recent, with the factor κ of `log_kappa` (erratum E-R1).

    Args:
        run: the clients, rounds and constants of the losses.
        step_size: step size η > 0.

    Returns:
        The least value, at least 1. The printed bound is proved if it is at most 2.
    """
    ages = candidate_ages(run, step_size, thorough=False)
    kappa = np.exp(log_kappa(run, step_size, ages))
    values = kappa + _absence_powers(run.rate, ages) / run.rate
    return float(np.min(values))
