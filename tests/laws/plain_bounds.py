"""What must lie on either side of the truth, by arguments of a line or two in mpmath; nothing of the code under test.

Run them with sixty digits. Below: one neighbouring pair of contributions, one event, and δ ≥ P(S) − e^ε Q(S). Above: the same run without sampling.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
from scipy.stats import binom

FACTOR = {"replace-one": 2, "add-or-remove-one": 1, "zero-out-one": 1}
DIGITS = 60
Number = Any


def tail(x: Number) -> Number:
    """P(N(0, 1) > x)."""
    return mp.erfc(mp.mpf(x) / mp.sqrt(2)) / 2


def gaussian(mu: Number, epsilon: Number) -> Number:
    """δ(ε) of N(μ, 1) against N(0, 1), by the textbook difference."""
    middle = epsilon / mu
    return tail(middle - mu / 2) - mp.e**epsilon * tail(middle + mu / 2)


def log(value: Number) -> float:
    """log of a probability, −inf at 0."""
    return float(mp.log(value)) if value > 0 else -math.inf


def gaussian_steps(spec: Any) -> list[tuple[float, float, int]] | None:
    """(noise, rate, times) of a composition of Gaussians, bare or on Poisson batches of records; None of others."""
    if spec.kind == "composed":
        lists = [gaussian_steps(part) for part in spec.mechanisms]
        return None if any(steps is None for steps in lists) else [step for steps in lists for step in steps or ()]
    if spec.kind == "repeated":
        inner = gaussian_steps(spec.mechanism)
        return None if inner is None else [(noise, rate, times * spec.times) for noise, rate, times in inner]
    if spec.kind == "subsampled" and spec.mechanism.kind == "gaussian":
        if spec.sampling == "full":
            return [(spec.mechanism.noise_multiplier, 1.0, 1)]
        if spec.sampling == "poisson" and spec.level != "clients":
            return [(spec.mechanism.noise_multiplier, spec.inclusion_probability, 1)]
        return None
    return [(spec.noise_multiplier, 1.0, 1)] if spec.kind == "gaussian" else None


def unsampled(steps: list[tuple[float, float, int]], relation: str, epsilon: float) -> float:
    """log δ of the same run when every batch holds everybody: above the truth, and exact where the rates are 1."""
    square = mp.fsum(times * (mp.mpf(FACTOR[relation]) / noise) ** 2 for noise, _, times in steps)
    return log(gaussian(mp.sqrt(square), mp.mpf(epsilon)))


def removal(noise: float, rate: float, epsilon: float) -> float:
    """log δ of one Poisson-sampled Gaussian, the record against nothing: (1 − q) N(0, 1) + q N(s, 1) against N(0, 1)."""
    q, shift = mp.mpf(rate), 1 / mp.mpf(noise)
    gamma = mp.e ** mp.mpf(epsilon)
    level = (gamma - 1 + q) / q
    end = mp.log(level) / shift + shift / 2
    return log(q * tail(end - shift) - (gamma - 1 + q) * tail(end))


def largest_sum(noise: float, rate: float, times: int, epsilon: float) -> float:
    """log of a lower bound of δ after many steps, by the event that the sum of all outputs is large.

    The record is drawn at least k times with a probability that the binomial law gives, and adds at least k then.
    """
    shift, root = 1 / mp.mpf(noise), mp.sqrt(times)
    best = -math.inf
    for quantile in (0.5, 0.1, 1e-3):
        drawn = int(binom.isf(quantile, times, rate)) if rate < 1.0 else times
        often = mp.mpf(float(binom.sf(drawn - 1, times, rate))) * (1 - mp.mpf(10) ** -9) if drawn > 0 else mp.mpf(1)
        mu = shift * drawn / root
        if mu == 0:
            continue
        end = mp.mpf(epsilon) / mu + mu / 2
        best = max(best, log(often * tail(end - mu) - mp.e ** mp.mpf(epsilon) * tail(end)))
    return best


def responses(epsilon0: float, categories: int, times: int, epsilon: float) -> float:
    """log δ of `times` reports by randomized response, exactly: trinomial sums over true and false reports."""
    odds = mp.e ** mp.mpf(epsilon0)
    total = odds + categories - 1
    up, down, rest = odds / total, 1 / total, (categories - 2) / total
    gamma, delta = mp.e ** mp.mpf(epsilon), mp.mpf(0)
    for first in range(times + 1):
        for second in range(times + 1 - first):
            others = times - first - second
            ways = math.comb(times, first) * math.comb(times - first, second)
            if others and categories == 2:
                continue
            both = ways * rest**others if others else mp.mpf(ways)
            delta += both * max(up**first * down**second - gamma * up**second * down**first, mp.mpf(0))
    return log(delta)


def below(spec: Any, relation: str, epsilon: float) -> float:
    """log of a number that δ is at least, under a record's own relation; −inf where nothing simple is known."""
    if spec.kind == "composed":
        return max(below(part, relation, epsilon) for part in spec.mechanisms)
    if spec.kind == "repeated":
        steps = gaussian_steps(spec)
        many = [largest_sum(noise, rate, times, epsilon) for noise, rate, times in steps or ()]
        return max(below(spec.mechanism, relation, epsilon), *many, -math.inf)
    if spec.kind == "gaussian":
        return log(gaussian(FACTOR[relation] / mp.mpf(spec.noise_multiplier), mp.mpf(epsilon)))
    if spec.kind == "laplace":
        loss = FACTOR[relation] / mp.mpf(spec.scale_multiplier)
        return log(-mp.expm1((mp.mpf(epsilon) - loss) / 2)) if epsilon < loss else -math.inf
    if spec.kind == "randomized_response" and relation == "replace-one":
        return responses(spec.epsilon, spec.categories, 1, epsilon)
    steps = gaussian_steps(spec)
    return removal(*steps[0][:2], epsilon) if steps else -math.inf
