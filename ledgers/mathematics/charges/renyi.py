"""Charges of a Rényi slot: at each of its orders the divergence of each run, added up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.errors import ConditionViolated
from epsilond.accountants.numerics.renyi_divergence import sampled_gaussian_renyi
from epsilond.ledgers.mathematics.amounts import up
from epsilond.ledgers.mathematics.state import Charge, times

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.charges.asked import ChargeRequest
    from epsilond.ledgers.mathematics.state import Slot

THEOREM = "epsilond.ledger-renyi-slot"
_ROUNDING = 1.0 + 2.0**-49


def charge(asked: ChargeRequest, slot: Slot) -> Charge:
    """Return the charge in Rényi divergence at every order of the slot, in the worse direction of the neighbours.

    Raises:
        ConditionViolated: the mechanism's divergence is not known: it is neither Gaussian, nor a Poisson-sampled
            Gaussian where a record is added or removed, nor pure.
    """
    each = {part: up(_divergence(asked, order)) for part, order in zip(slot.capacity, slot.orders, strict=True)}
    return Charge(parts=times(each, asked.count), each=each, theorem=THEOREM)


def _divergence(asked: ChargeRequest, order: float) -> float:
    mu, law = asked.one.gaussian_dp_mu, asked.one.law
    if mu is not None:
        return 0.5 * order * mu * mu * _ROUNDING
    if isinstance(law, SampledGaussianLaw) and law.direction != "replace":
        noise_multiplier = math.nextafter(1.0 / law.shift, 0.0)
        return sampled_gaussian_renyi(order=order, rate=law.rate, noise_multiplier=noise_multiplier).upper
    epsilon = asked.one.epsilon(-math.inf).upper
    if math.isinf(epsilon):
        raise ConditionViolated("no Rényi divergence is known of this mechanism: use a Gaussian slot or the plan")
    return _pure(order, epsilon)


def _pure(order: float, epsilon: float) -> float:
    """D_a of randomised response at ε, the largest of all ε-private mechanisms: log of p^a r^(1−a) + r^a p^(1−a)."""
    log_p, log_r = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    first, second = order * log_p + (1.0 - order) * log_r, order * log_r + (1.0 - order) * log_p
    larger = max(first, second)
    log_moment = larger + math.log1p(math.exp(min(first, second) - larger))
    slack = 64.0 * 2.0**-53 * (1.0 + order * (abs(log_p) + abs(log_r)))
    return min((max(log_moment, 0.0) + slack) / (order - 1.0), epsilon * _ROUNDING)
