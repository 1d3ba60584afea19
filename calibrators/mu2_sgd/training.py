"""Step size, risk bound and start of a run of mu2-sgd at its noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.theorems.risk.reshef_levy.certified_bound import (
    CERTIFIED,
    CONVERGENCE,
    best_step_size,
    certified_risk,
)
from epsilond.accountants.theorems.risk.reshef_levy.trusted_server import (
    ORDERS,
    TRUSTED_RUN,
    order_scale,
    order_terms,
    trusted_step_size,
    trusted_terms,
)
from epsilond.calibrators.answer import Risk, RiskBound
from epsilond.calibrators.risk.baseline import Start, start_of

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Condition
    from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem


@dataclass(frozen=True, kw_only=True)
class Mu2Training:
    """The step size of a run, the upper bound on its excess risk, and the order of the lower bound.

    Attributes:
        step_size: the step size η > 0; None if no theorem covers the participation of the clients.
        risk: the upper bound and the order of the lower bound. Without a step size it has only the order.
    """

    step_size: float | None = None
    risk: Risk

    @property
    def declared(self) -> tuple[Condition, ...]:
        """The conditions of the upper bound that only the caller can check; empty without such a bound."""
        return CONVERGENCE if self.step_size else ()


def training_of(problem: Mu2SgdProblem, noise_std: float, epsilon: float) -> Mu2Training:
    """Return the step size of a run with its bound on the excess risk, and the order of the lower bound.

    The theorems for the upper bound need participants that are drawn uniformly in each round, without a limit on the
    reports of a client, or rounds of all clients. For other participation only the order is returned.

    Args:
        problem: the request, with the losses, the participation of clients, and who adds the noise.
        noise_std: standard deviation per coordinate of a client's first noise, or of a trusted server's noise in every
            round.
        epsilon: ε of the target; 0 leaves no privacy term in the lower bound.

    Returns:
        The step size and the bounds on the excess risk. The step size is None if no theorem covers the participation.
    """
    lower = _lower_order(problem, epsilon)
    if not problem.printed_participation:
        return Mu2Training(risk=Risk(lower=lower))
    if problem.server == "trusted":
        step_size, upper = _trusted_bound(problem, noise_std)
    else:
        step_size, upper = _untrusted_bound(problem, noise_std)
    return Mu2Training(step_size=step_size, risk=Risk(upper=upper, lower=lower))


def _lower_order(problem: Mu2SgdProblem, epsilon: float) -> RiskBound:
    """Return the order of growth of the lower bound on the excess risk at a target ε.

    The constant of the bound is not known, so the value is a scale and not a bound.

    Args:
        problem: the request, with the clients, the participants, the rounds and the dimension.
        epsilon: ε of the target; 0 leaves no privacy term.

    Returns:
        The scale with its terms, in units of the Lipschitz constant times the diameter.
    """
    orders = order_terms(
        server=problem.server,
        clients=problem.clients,
        reports=float(problem.reporting) * problem.rounds,
        dimension=problem.dimension,
        epsilon=epsilon if epsilon > 0.0 else math.inf,
    )
    return RiskBound(value=order_scale(orders), constant="hidden", theorem=ORDERS.id, terms=orders)


def _trusted_bound(problem: Mu2SgdProblem, noise_std: float) -> tuple[float, RiskBound]:
    """Return the step size and the bound on the excess risk of Theorem F.2 of Reshef and Levy, for a trusted server.

    Args:
        problem: the request, with the constants of the loss.
        noise_std: standard deviation per coordinate of the server's noise in every round.

    Returns:
        The step size, and the bound with the terms that add up to it.
    """
    run = problem.federation
    step_size = trusted_step_size(run, noise_std=noise_std)
    terms = trusted_terms(run, noise_std=noise_std, step_size=step_size)
    bound = RiskBound(value=math.fsum(terms.values()), constant="explicit", theorem=TRUSTED_RUN.id, terms=terms)
    return step_size, bound


def _untrusted_bound(problem: Mu2SgdProblem, noise_std: float) -> tuple[float, RiskBound]:
    """Return a step size with nearly the least bound on the excess risk, for an untrusted server.

    The bound is the least of three: by the norm of the noise, by Young's inequality, and by stability.

    Args:
        problem: the request, with the constants of the loss.
        noise_std: standard deviation per coordinate of the noise of a client's first report.

    Returns:
        The step size, and the bound. Its terms are the summands of the bound, followed by the three bounds.
    """
    run = problem.federation
    noise_variance = noise_std * noise_std
    step_size = best_step_size(run, noise_variance=noise_variance)
    certified = certified_risk(run, step_size=step_size, noise_variance=noise_variance)
    terms = {name: getattr(certified, name) for name in ("optimisation", "statistical", "noise")}
    terms |= {f"bound_{name}": getattr(certified, name) for name in ("by_norm", "by_young", "by_stability")}
    bound = RiskBound(value=certified.total, constant="explicit", theorem=CERTIFIED.id, terms=terms)
    return step_size, bound


def start_of_run(problem: Mu2SgdProblem) -> Start:
    """Bound the excess risk of the initial model, before training, for losses that are Lipschitz and smooth.

    If the bound for the trained model is not smaller, training is not proved to help.

    Args:
        problem: the request. Its `optimum_gradient_norm` bounds the norm of the gradient at the minimiser.

    Returns:
        The bound on the population excess risk, with the quantities that it is derived from.
    """
    run = problem.federation
    return start_of(
        "population",
        distance=run.diameter,
        lipschitz=run.lipschitz,
        smoothness=run.smoothness,
        minimiser_gradient_norm=run.optimum_gradient_norm,
    )
