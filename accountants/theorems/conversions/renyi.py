"""Conversions of Rényi and zero-concentrated differential privacy to (ε, δ), and of pure guarantees to them.

Composition adds Rényi divergences, and uses no other property of the privacy loss. So these bounds are never tighter
than the exact ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.outward import product_up, raise_by_units
from epsilond.accountants.numerics.renyi_divergence import sampled_gaussian_renyi
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.concentrated import ConcentratedProfile
from epsilond.accountants.profiles.declared.concentrated_bound import concentrated_log_delta, minimiser
from epsilond.accountants.quantities import (
    DeltaFields,
    Epsilon,
    NoiseMultiplier,
    Quantity,
    Rate,
    RenyiOrder,
    Times,
    ZcdpRho,
    delta_outputs,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem

ORDERS = Quantity(symbol="a", description="orders, each above 1")
DIVERGENCES = Quantity(symbol="ε(a)", unit="nat", description="bound on the Rényi divergence of one run, at each order")
AT_EPSILON = Quantity(symbol="ε", unit="nat", ge=0, le=1e9, description="privacy loss bound ε of (ε, δ), 0 allowed")


# From Rényi divergences to (ε, δ) ------------------------------------------------------------------------------------
@request
class RenyiInputs(DeltaFields):
    """Rényi divergences of one mechanism, which is run `times` times, and a δ. Give one of delta and log10_delta."""

    orders: Annotated[tuple[RenyiOrder, ...], ORDERS]
    divergences: Annotated[tuple[float, ...], DIVERGENCES]
    times: Times = 1

    def check(self) -> None:
        """Require as many divergences as orders, with orders in (1, 1e6] and divergences in [0, ∞).

        Raises:
            InvalidInput: the lists are empty or of different lengths, or an entry is out of range.
        """
        if not self.orders or len(self.orders) != len(self.divergences):
            raise InvalidInput.at("/divergences", "must have as many entries as orders, at least one")
        if not all(1.0 < order <= 1e6 for order in self.orders):
            raise InvalidInput.at("/orders", "an entry is out of range", allowed="> 1 and ≤ 1e+06")
        if not all(0.0 <= divergence < math.inf for divergence in self.divergences):
            raise InvalidInput.at("/divergences", "an entry is out of range", allowed="≥ 0 and finite")


def mironov_epsilon(*, order: float, divergence: float, log_delta: float) -> float:
    """Convert a Rényi divergence to the ε at δ by Mironov's formula ε(a) + ln(1/δ)/(a − 1), rounded up.

    Args:
        order: order a > 1 of the divergence.
        divergence: Rényi divergence ε(a) of all runs together at this order, in nats.
        log_delta: natural logarithm of δ.

    Returns:
        ε, in nats.
    """
    scaled_log_delta = log_delta / (order - 1.0)  # negative
    # Both terms are at least 0 and within four units of roundoff, so the margin exceeds the error of their sum.
    margin_in_units = 6.0
    return raise_by_units(divergence - scaled_log_delta, margin_in_units)


def improved_epsilon(*, order: float, divergence: float, log_delta: float) -> float:
    """Convert a Rényi divergence to the ε at δ by ε(a) + ln(1 − 1/a) − ln(aδ)/(a − 1), rounded up.

    The formula is Proposition 12 of Canonne, Kamath and Steinke (2020). Up to rounding, the result is never above that
    of `mironov_epsilon`.

    Args:
        order: order a > 1.
        divergence: ε(a), the Rényi divergence of order a of all runs, in nats.
        log_delta: ln δ.

    Returns:
        ε, in nats. It may be negative; ε = 0 is then valid.
    """
    terms = (
        divergence,
        _log_one_minus_inverse(order),
        -log_delta / (order - 1.0),
        -math.log(order) / (order - 1.0),
    )
    # Terms of different signs may cancel, so the margin is relative to the sum of their sizes: eight units of roundoff
    # for each term, and two for the sums.
    rounding = 10.0 * UNIT_ROUNDOFF * math.fsum(map(abs, terms))
    return math.fsum(terms) + rounding


def _log_one_minus_inverse(order: float) -> float:
    """Compute ln(1 − 1/a) for an order a > 1."""
    if order < 2.0:
        # 1 − 1/a would lose digits near a = 1.
        return math.log(order - 1.0) - math.log(order)
    return math.log1p(-1.0 / order)


def _best_order(inputs: RenyiInputs, convert: Callable[..., float]) -> Outputs:
    """Compute the smallest ε at δ over the given Rényi orders, and the order that attains it.

    Rényi divergences of independent runs add up. Each order gives a valid ε, so the smallest one is valid.

    Args:
        inputs: the orders with the divergences of one run, the number of runs, and δ.
        convert: function from `order`, the `divergence` of all runs at it, and `log_delta` to ε.

    Returns:
        `epsilon`, at least 0 and in nats, and `order`.
    """
    candidates = []
    for order, divergence in zip(inputs.orders, inputs.divergences, strict=True):
        total_divergence = product_up(inputs.times, divergence)
        epsilon = convert(order=order, divergence=total_divergence, log_delta=inputs.log_delta)
        candidates.append((epsilon, order))
    least_epsilon, best_order = min(candidates)
    return {"epsilon": max(least_epsilon, 0.0), "order": best_order}


_RENYI_EXAMPLE = {"orders": [2.0, 32.0], "divergences": [1.1, 1.1], "delta": 1e-5}
MIRONOV = Theorem(
    id="mironov-2017.proposition-3",
    title="From a Rényi divergence to (ε, δ)",
    statement=(
        "A mechanism with the Rényi divergence ε(a) at order a is (ε(a) + ln(1/δ)/(a − 1), δ)-private. The divergences "
        "of composed runs add up (Proposition 1)"
    ),
    source=Source("mironov2017renyi", "Propositions 1 and 3"),
    status=Status.PROVED,
    inputs=RenyiInputs,
    formula=lambda inputs: _best_order(inputs, mironov_epsilon),
    examples=(_RENYI_EXAMPLE,),
)
IMPROVED = Theorem(
    id="canonne-kamath-steinke-2020.proposition-12",
    title="From a Rényi divergence to (ε, δ), improved",
    statement=(
        "A mechanism with the Rényi divergence ε(a) at order a is (ε(a) + ln(1 − 1/a) − ln(aδ)/(a − 1), δ)-private"
    ),
    source=Source("canonne2020discrete", "Proposition 12"),
    status=Status.PROVED,
    inputs=RenyiInputs,
    formula=lambda inputs: _best_order(inputs, improved_epsilon),
    examples=(_RENYI_EXAMPLE,),
)


# Zero-concentrated privacy -------------------------------------------------------------------------------------------
@request
class ConcentratedInputs:
    """ρ-zCDP, and the ε at which δ is computed."""

    rho: ZcdpRho
    epsilon: Annotated[float, AT_EPSILON]


def zcdp_log_delta(*, rho: float, epsilon: float) -> float:
    """Compute the bound on ln δ(ε) of ρ-zCDP mechanisms by Rényi conversion at the best order.

    ρ-zCDP (zero-concentrated differential privacy) bounds the Rényi divergence of each order a by ρa. The result is not
    rounded up; its accuracy is that of `concentrated_log_delta`.

    Args:
        rho: parameter ρ > 0 of zero-concentrated differential privacy, in nats.
        epsilon: privacy loss ε ≥ 0, in nats.

    Returns:
        The natural logarithm of the bound, at most 0.
    """
    return min(float(concentrated_log_delta(rho, np.asarray(epsilon))), 0.0)


def zcdp_delta(inputs: ConcentratedInputs) -> Outputs:
    """Compute an upper bound on δ at ε of every ρ-zCDP mechanism, by Rényi conversion at the best order.

    ρ-zCDP (zero-concentrated differential privacy) bounds the Rényi divergence of each order a by ρa.

    Args:
        inputs: ρ and ε, in nats.

    Returns:
        The bound and its decimal logarithm, rounded up.
    """
    log_delta = zcdp_log_delta(rho=inputs.rho, epsilon=inputs.epsilon)

    # The error of ln δ is at most 16 units of roundoff times 1 + |ln δ| + (a − 1) ε, for the best order a.
    log_best_excess = float(minimiser(inputs.rho, np.asarray(inputs.epsilon)))
    exponent = math.exp(log_best_excess) * inputs.epsilon
    margin = 32 * UNIT_ROUNDOFF * (1.0 + abs(log_delta) + exponent)  # twice this error
    return delta_outputs(min(log_delta + margin, 0.0))


def zcdp_pair_delta(inputs: ConcentratedInputs) -> Outputs:
    """Compute an upper bound on δ at ε of every ρ-zCDP mechanism, from a dominating pair.

    It is a pair of distributions with a hockey-stick divergence that bounds δ of every such mechanism at every ε.

    Args:
        inputs: ρ and ε, in nats.

    Returns:
        The bound and its decimal logarithm, rounded up.
    """
    log_delta = ConcentratedProfile(inputs.rho).log_delta(np.asarray(inputs.epsilon))
    return delta_outputs(float(log_delta.upper))


ZCDP = Theorem(
    id="canonne-kamath-steinke-2020.corollary-13",
    title="From zero-concentrated privacy to (ε, δ), at the best order",
    statement="ρ-zCDP gives δ = inf over a > 1 of e^{(a − 1)(aρ − ε)} (1 − 1/a)^a/(a − 1)",
    source=Source("canonne2020discrete", "Corollary 13"),
    status=Status.PROVED,
    inputs=ConcentratedInputs,
    formula=zcdp_delta,
    examples=({"rho": 0.1, "epsilon": 1.0}, {"rho": 0.03125, "epsilon": 0.0}),
)
ZCDP_PAIR = Theorem(
    id="epsilond.zcdp-pair",
    title="A pair that dominates zero-concentrated privacy",
    statement=(
        "The bound of Corollary 13 is convex in e^ε. At its minimiser b = a − 1, P(L > ε) = e^{−ρb²} and Q(L > "
        "ε) = e^{−ρ(b+1)²}. Near ε = 0 the sum of these exceeds one, and a chord gives a smaller bound on δ"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, Concentrated privacy as a pair"),
    status=Status.PROVED,
    inputs=ConcentratedInputs,
    formula=zcdp_pair_delta,
    examples=({"rho": 0.03125, "epsilon": 0.0},),
)


@request
class PureInputs:
    """A pure guarantee of one run, and the number `times` of runs."""

    epsilon: Epsilon
    times: Times = 1


def pure_to_zcdp(inputs: PureInputs) -> Outputs:
    """Compute the zero-concentrated privacy ρ = ε²/2 of an ε-private mechanism, for one run and for all runs.

    Args:
        inputs: ε of one run, and the number of runs.

    Returns:
        `zcdp_rho` of one run and `composed_zcdp_rho` of all, in nats, rounded up.
    """
    half_epsilon = 0.5 * inputs.epsilon
    return {
        "zcdp_rho": product_up(half_epsilon, inputs.epsilon),
        "composed_zcdp_rho": product_up(inputs.times, half_epsilon, inputs.epsilon),
    }


PURE = Theorem(
    id="bun-steinke-2016.proposition-1.4",
    title="From pure to zero-concentrated privacy",
    statement=(
        "An ε-private mechanism is ρ-zero-concentrated private with ρ = ε²/2. Over several runs the ρ add up (Lemma "
        "1.7)"
    ),
    source=Source("bun2016concentrated", "Proposition 1.4 and Lemma 1.7"),
    status=Status.PROVED,
    inputs=PureInputs,
    formula=pure_to_zcdp,
    examples=({"epsilon": 0.1, "times": 10},),
)


# The subsampled Gaussian mechanism -----------------------------------------------------------------------------------
@request
class SampledGaussianInputs:
    """Poisson-subsampled Gaussian runs under add-or-remove-one, and a real Rényi order."""

    order: RenyiOrder
    rate: Rate
    noise_multiplier: NoiseMultiplier
    times: Times = 1


def sampled_gaussian(inputs: SampledGaussianInputs) -> Outputs:
    """Compute bounds on the Rényi divergence of all runs of the Poisson-subsampled Gaussian mechanism.

    Each record is in a batch independently with the same probability. The divergences of the runs add up.

    Args:
        inputs: order of the divergence, sampling rate, noise multiplier and number of runs.

    Returns:
        A lower and an upper bound on the divergence, in nats.
    """
    divergence = sampled_gaussian_renyi(order=inputs.order, rate=inputs.rate, noise_multiplier=inputs.noise_multiplier)
    return {
        "lower_renyi_divergence": math.nextafter(inputs.times * divergence.lower, 0.0),
        "upper_renyi_divergence": math.nextafter(inputs.times * divergence.upper, math.inf),
    }


SAMPLED_GAUSSIAN = Theorem(
    id="mironov-talwar-zhang-2019.sampled-gaussian",
    title="Rényi divergence of the Poisson-subsampled Gaussian mechanism",
    statement=(
        "At every real a > 1, ε(a) = ln E_{N(0, z²)}[((1 − q) + q e^{(2x − 1)/2z²})^a]/(a − 1). This is the "
        "larger value of the two directions of the pair. Quadrature with a bound on its error evaluates it"
    ),
    source=Source("mironov2019sampled", "Section 3: A_α, and A_α ≥ B_α"),
    status=Status.PROVED,
    conditions=(Condition("fresh-poisson-batches", "every record is in every batch independently with probability q"),),
    inputs=SampledGaussianInputs,
    formula=sampled_gaussian,
    examples=({"order": 1.5, "rate": 0.01, "noise_multiplier": 2.5, "times": 50},),
)

THEOREMS: tuple[Theorem, ...] = (MIRONOV, IMPROVED, ZCDP, ZCDP_PAIR, PURE, SAMPLED_GAUSSIAN)
