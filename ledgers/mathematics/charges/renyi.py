"""Charges of a Rényi slot: the divergences of all runs add up at each order of the slot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.errors import ConditionViolated
from epsilond.accountants.kinds import concentration_of
from epsilond.accountants.numerics.outward import product_up, round_up, sum_up
from epsilond.accountants.numerics.renyi_divergence import pure_renyi, sampled_gaussian_renyi
from epsilond.accountants.profiles.declared.renyi_of_pairs import upper_renyi
from epsilond.accountants.theorems.composition.rounds import flatten
from epsilond.ledgers.mathematics.amounts import up
from epsilond.ledgers.mathematics.state import Charge, times

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.ledgers.mathematics.charges.request import ChargeRequest
    from epsilond.ledgers.mathematics.state import Slot

THEOREM = "epsilond.ledger-renyi-slot"
_ROUNDING = 1.0 + 2.0**-49
"""Factor above the rounding error of a product of a few doubles."""


def charge(request: ChargeRequest, slot: Slot) -> Charge:
    """Return the cost of a job in a Rényi slot: a bound on its Rényi divergence at every order of the slot.

    A Rényi slot is a privacy budget with one amount for each order. The costs of runs add up. The divergence is that of
    the outputs on neighbouring data sets, in the direction in which it is larger.

    Args:
        request: the mechanism and its number of runs.
        slot: the slot, for its orders.

    Returns:
        The charge for one run and for all runs. The amount for the order a has the name `order:a`.

    Raises:
        ConditionViolated: the mechanism's divergence is not known at an order.
    """
    run_charge = {}
    for part, order in zip(slot.capacity, slot.orders, strict=True):
        run_charge[part] = up(_divergence(request, order))
    return Charge(parts=times(run_charge, request.count), each=run_charge, theorem=THEOREM)


def _divergence(request: ChargeRequest, order: float) -> float:
    """Return an upper bound on the Rényi divergence of one run, for both directions of neighbouring data sets.

    A Gaussian mechanism with parameter μ has the divergence a μ²/2 at the order a. A sampled Gaussian mechanism has a
    formula of its own. For any other run, the smaller of two bounds is taken: the sum over the mechanisms of which it
    is composed, and a bound from its pure ε.

    Args:
        request: the job.
        order: Rényi order, above 1.

    Returns:
        The bound in nats, finite.

    Raises:
        ConditionViolated: the mechanism's divergence is not known.
    """
    pair = request.one
    if pair.gaussian_dp_mu is not None:
        mu = pair.gaussian_dp_mu
        return 0.5 * order * mu * mu * _ROUNDING
    if isinstance(pair.law, SampledGaussianLaw) and pair.law.direction != "replace":
        # Less noise means more divergence, so the noise multiplier is rounded down.
        noise_multiplier = math.nextafter(1.0 / pair.law.shift, 0.0)
        return sampled_gaussian_renyi(order=order, rate=pair.law.rate, noise_multiplier=noise_multiplier).upper

    bound = _sum_of_divergences(request, order)
    pure_epsilon = pair.epsilon(-math.inf).upper  # ε at δ = 0, whose logarithm is −∞
    if math.isfinite(pure_epsilon):
        bound = min(bound, pure_renyi(order=order, epsilon=pure_epsilon))
    if math.isinf(bound):
        raise ConditionViolated(
            f"no Rényi divergence of order {order:g} is known of this mechanism: use a Gaussian slot or the plan"
        )
    return bound


def _sum_of_divergences(request: ChargeRequest, order: float) -> float:
    """Bound the Rényi divergence of one run by the sum over the mechanisms of which it is composed.

    Args:
        request: the job, of which one run may consist of several mechanisms.
        order: Rényi order, above 1.

    Returns:
        The sum in nats, rounded up; math.inf if no finite bound on the divergence of a mechanism is known.
    """
    parts = flatten(request.spec)
    divergences = [(_divergence_of_part(request, spec, order), repetitions) for spec, repetitions in parts]
    are_finite = all(math.isfinite(divergence) for divergence, _ in divergences)
    if not are_finite:
        return math.inf
    return sum_up(product_up(divergence, repetitions) for divergence, repetitions in divergences)


def _divergence_of_part(request: ChargeRequest, spec: Spec, order: float) -> float:
    """Return an upper bound on the Rényi divergence of one mechanism, for both directions of neighbouring data sets.

    It is computed from the dominating pair. If the mechanism is known to be ρ-zero-concentrated private with δ = 0, the
    bound is at most order · ρ.

    Args:
        request: the job, which determines the neighbouring relation.
        spec: the mechanism, a part of one run.
        order: Rényi order, above 1.

    Returns:
        The bound in nats; math.inf if none is known.
    """
    by_pair = upper_renyi(request.guarantee(spec).curve.upper, order)
    concentrated = concentration_of(spec)
    if concentrated is None or concentrated.delta > 0:
        return by_pair
    return min(by_pair, product_up(round_up(concentrated.rho), order))
