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

    A Rényi slot is a privacy budget of one amount for each order. The costs of runs add up. The divergence is the
    larger one of the two directions of neighbouring data sets.

    Args:
        request: the mechanism and its number of runs.
        slot: the slot, which has one amount for each order.

    Returns:
        The charge by the names `order:a` of the orders a, for one run and for all runs.

    Raises:
        ConditionViolated: the mechanism's divergence is not known at an order.
    """
    run_charge = {}
    for part, order in zip(slot.capacity, slot.orders, strict=True):
        run_charge[part] = up(_divergence(request, order))
    return Charge(parts=times(run_charge, request.count), each=run_charge, theorem=THEOREM)


def _divergence(request: ChargeRequest, order: float) -> float:
    """Return an upper bound on the Rényi divergence of one run at an order, in the worse direction.

    A Gaussian mechanism of parameter μ has the divergence a μ²/2 at the order a. A sampled Gaussian mechanism has a
    formula of its own. Otherwise the smaller of two bounds is taken.

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
        return 0.5 * order * mu * mu * _ROUNDING  # a μ²/2 for the order a
    if isinstance(pair.law, SampledGaussianLaw) and pair.law.direction != "replace":
        noise_multiplier = math.nextafter(1.0 / pair.law.shift, 0.0)
        return sampled_gaussian_renyi(order=order, rate=pair.law.rate, noise_multiplier=noise_multiplier).upper

    # Any other mechanism: the sum over its parts, or the bound from its pure ε.
    bound = _sum_of_divergences(request, order)
    pure_epsilon = pair.epsilon(-math.inf).upper  # of the whole run, which may give a smaller bound
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
    divergences = [(_of_part(request, spec, order), repetitions) for spec, repetitions in flatten(request.spec)]
    are_finite = all(math.isfinite(divergence) for divergence, _ in divergences)
    if not are_finite:
        return math.inf
    return sum_up(product_up(divergence, repetitions) for divergence, repetitions in divergences)


def _of_part(request: ChargeRequest, spec: Spec, order: float) -> float:
    """Return an upper bound on the Rényi divergence of one mechanism at an order; math.inf if none is known.

    The bound follows from the dominating pair, in the worse direction. If the mechanism is ρ-zero-concentrated private
    with δ = 0, it is at most order · ρ.

    Args:
        request: the job, which determines the neighbouring relation.
        spec: the mechanism.
        order: Rényi order, above 1.

    Returns:
        The bound, in nats.
    """
    by_pair = upper_renyi(request.guarantee(spec).curve.upper, order)
    concentrated = concentration_of(spec)
    if concentrated is None or concentrated.delta > 0:
        return by_pair
    return min(by_pair, product_up(round_up(concentrated.rho), order))
