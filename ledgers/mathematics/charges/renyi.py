"""Charges of a Rényi slot: the divergences of all runs add up at each order of the slot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.errors import ConditionViolated
from epsilond.accountants.numerics.renyi_divergence import sampled_gaussian_renyi
from epsilond.ledgers.mathematics.amounts import up
from epsilond.ledgers.mathematics.state import Charge, times

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.charges.request import ChargeRequest
    from epsilond.ledgers.mathematics.state import Slot

THEOREM = "epsilond.ledger-renyi-slot"
_ROUNDING = 1.0 + 2.0**-49
"""Factor above the rounding error of a product of a few doubles."""


def charge(request: ChargeRequest, slot: Slot) -> Charge:
    """Return the charge of a job in Rényi divergence at every order of the slot. The charges of runs add up.

    The divergence is that of the worse direction of the neighbours.

    Raises:
        ConditionViolated: the mechanism's divergence is not known. It is known for Gaussian mechanisms, for
            Poisson-sampled Gaussians if a record is added or removed, and for pure mechanisms.
    """
    run_charge = {part: up(_divergence(request, order)) for part, order in zip(slot.capacity, slot.orders, strict=True)}
    return Charge(parts=times(run_charge, request.count), each=run_charge, theorem=THEOREM)


def _divergence(request: ChargeRequest, order: float) -> float:
    """Return an upper bound on the Rényi divergence of one run at an order, in the worse direction of the neighbours.

    Args:
        request: the job.
        order: Rényi order, above 1.

    Raises:
        ConditionViolated: the mechanism's divergence is not known.
    """
    mu, law = request.one.gaussian_dp_mu, request.one.law
    if mu is not None:
        return 0.5 * order * mu * mu * _ROUNDING
    if isinstance(law, SampledGaussianLaw) and law.direction != "replace":
        noise_multiplier = math.nextafter(1.0 / law.shift, 0.0)
        return sampled_gaussian_renyi(order=order, rate=law.rate, noise_multiplier=noise_multiplier).upper
    epsilon = request.one.epsilon(-math.inf).upper
    if math.isinf(epsilon):
        raise ConditionViolated("no Rényi divergence is known of this mechanism: use a Gaussian slot or the plan")
    return _pure(order, epsilon)


def _pure(order: float, epsilon: float) -> float:
    """Return an upper bound on the Rényi divergence of any mechanism with pure privacy loss ε.

    Randomized response attains the largest divergence.

    At order a it is log(p^a r^(1−a) + r^a p^(1−a))/(a − 1), with p = 1/(1 + e^−ε) and r = 1 − p.
    """
    log_p, log_r = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    first, second = order * log_p + (1.0 - order) * log_r, order * log_r + (1.0 - order) * log_p
    larger = max(first, second)
    log_moment = larger + math.log1p(math.exp(min(first, second) - larger))
    slack = 64.0 * 2.0**-53 * (1.0 + order * (abs(log_p) + abs(log_r)))
    return min((max(log_moment, 0.0) + slack) / (order - 1.0), epsilon * _ROUNDING)
