"""Risk bounds of mu2-sgd: the proved bounds at the run's noise, and the order of the lower bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.quantities import STEP_SIZE, Checks, request
from epsilond.accountants.quantities.risks import require_positive
from epsilond.accountants.theorem import Sides
from epsilond.accountants.theorems.papers.reshef_levy.conversions import epsilons
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
from epsilond.accountants.theorems.risk.reshef_levy.untrusted_server import small_step
from epsilond.calibrators.envelope import condition_answers
from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem
from epsilond.calibrators.mu2_sgd.training import start_of_run
from epsilond.calibrators.risk.answer import LowerBound
from epsilond.calibrators.risk.given_noise import (
    GivenNoiseRiskPart,
    NoisyRun,
    explicit_upper,
    noise_quantity,
    run_at_certified_noise,
)
from epsilond.calibrators.risk.part import Bounds

if TYPE_CHECKING:
    from epsilond.calibrators.risk.answer import UpperBound

LEAST_NOISE_STD = 1e-12
"""Noise that replaces 0 in the search for the best step size, per unit of the clipping norm; any step is valid."""
OPEN_PARTICIPATION = (
    "the theorems need participants that are drawn uniformly in each round, without a limit on a client's reports, or "
    "rounds of all clients"
)


@request
class Mu2SgdRiskProblem(Mu2SgdProblem):
    """A run of mu2-sgd. `noise_std` is that of a client's first report, or of every round of a trusted server.

    If `step_size` is absent, it is one that nearly minimises the bound.
    """

    checks: ClassVar[Checks] = (require_positive,)

    noise_std: Annotated[
        float | None, noise_quantity("on a client's first report, or on every round's mean if the server is trusted")
    ] = None
    step_size: Annotated[float | None, STEP_SIZE] = None

    @property
    def has_known_step(self) -> bool:
        """True if the step size follows from the request, so that none has to be searched for."""
        return self.step_size is not None or self.server == "trusted" or not self.printed_participation


def given_run(problem: Mu2SgdRiskProblem) -> NoisyRun | None:
    """Return the noise and the rounds of the requested run.

    Args:
        problem: the request. Its `noise_std` is that of a client's first report, or of every round of a trusted server.

    Returns:
        The run; None if the request gives no noise, which then has to be certified.
    """
    if problem.noise_std is None:
        return None
    return NoisyRun(noise_std=problem.noise_std, rounds=problem.rounds)


def bounds(problem: Mu2SgdRiskProblem, run: NoisyRun) -> Bounds:
    """Bound the population excess risk of a run, and return the order of the lower bound.

    With an untrusted server, the bound comes from a repaired proof of Theorem 5.2 of Reshef and Levy. With a trusted
    server, it is that of their Theorem F.2.

    Args:
        problem: the request, with the losses, the participation of clients, and who adds the noise.
        run: the standard deviation of a client's first noise, or of every round's noise with a trusted server.

    Returns:
        The bounds, with the step size that they are for and the conditions that the caller declares. There is no upper
        bound if the theorems do not cover the participation of the clients.
    """
    start = start_of_run(problem)
    lower = (_lower_order(problem),)
    if not problem.printed_participation:
        return Bounds(upper=(), start=start, lower=lower, open_question=OPEN_PARTICIPATION)
    if problem.server == "trusted":
        step_size, upper = _trusted_bound(problem, run.noise_std)
    else:
        step_size, upper = _untrusted_bound(problem, run.noise_std)
    return Bounds(upper=(upper,), start=start, lower=lower, declared=CONVERGENCE, step_size=step_size)


def _untrusted_bound(problem: Mu2SgdRiskProblem, noise_std: float) -> tuple[float, UpperBound]:
    """Return the step size and the proved bound on the excess risk if the clients add the noise.

    The bound is the least of three: by the norm of the noise, by Young's inequality, and by stability.

    Args:
        problem: the request. If it gives no step size, the one with nearly the least bound is used.
        noise_std: standard deviation per coordinate of the noise of a client's first report, at least 0.

    Returns:
        The step size η, and the bound with its condition 2ηLT < 1, for smoothness L and T rounds. The terms of the
        bound are its summands, followed by the three bounds.
    """
    run = problem.federation
    # The search for a step size divides by the noise, which may be 0. Every step size gives a valid bound.
    positive_std = max(noise_std, LEAST_NOISE_STD * run.clipping_norm)
    step_size = problem.step_size or best_step_size(run, noise_variance=positive_std * positive_std)

    parts = certified_risk(run, step_size=step_size, noise_variance=noise_std * noise_std)
    terms = {name: getattr(parts, name) for name in ("optimisation", "statistical", "noise")}
    terms |= {f"bound_{name}": getattr(parts, name) for name in ("by_norm", "by_young", "by_stability")}

    stable = CERTIFIED.conditions[0]  # 2ηLT < 1
    sides = Sides.below(2.0 * step_size * run.smoothness * run.rounds, 1.0)
    condition = ConditionResult(stable.id, stable.statement, sides.holds, sides.left, sides.right)
    return step_size, explicit_upper(CERTIFIED, terms, value=parts.total, conditions=(condition,))


def _trusted_bound(problem: Mu2SgdRiskProblem, noise_std: float) -> tuple[float, UpperBound]:
    """Return the step size and the bound on the excess risk if a trusted server adds the noise.

    The bound is that of Theorem F.2 of Reshef and Levy.

    Args:
        problem: the request. If it gives no step size, the one of the theorem is used.
        noise_std: standard deviation σ per coordinate of the server's noise in every round, at least 0.

    Returns:
        The step size η, and the bound with its terms and its condition 4ηLT ≤ 1, for smoothness L and T rounds.
    """
    run = problem.federation
    # The theorem's step size divides by the noise, which may be 0. Every small enough step size gives a valid bound.
    positive_std = max(noise_std, LEAST_NOISE_STD * run.clipping_norm)
    step_size = problem.step_size or trusted_step_size(run, noise_std=positive_std)
    terms = trusted_terms(run, noise_std=noise_std, step_size=step_size)
    small = TRUSTED_RUN.conditions[0]  # 4ηLT ≤ 1
    sides = small_step(4.0 * step_size * run.smoothness * run.rounds)
    condition = ConditionResult(small.id, small.statement, sides.holds, sides.left, sides.right)
    return step_size, explicit_upper(TRUSTED_RUN, terms, conditions=(condition,))


def _lower_order(problem: Mu2SgdRiskProblem) -> LowerBound:
    """Return the lower bound on the excess risk that Reshef and Levy compare with, up to an unknown constant.

    The bound is in units of the loss.

    Args:
        problem: the request, with the losses, the clients, the rounds and the privacy target.

    Returns:
        The order of the bound and its terms, with the conditions under which it is stated.
    """
    orders = order_terms(
        server=problem.server,
        clients=problem.clients,
        reports=float(problem.reporting) * problem.rounds,
        dimension=problem.dimension,
        epsilon=_target_epsilon(problem),
    )
    # The orders are relative to the largest possible excess risk, Lipschitz constant times diameter.
    largest_excess = problem.lipschitz * problem.diameter
    terms = {f"{name}_term": largest_excess * value for name, value in orders.items()}
    conditions = [condition.at(problem) for condition in ORDERS.conditions]
    return LowerBound(
        theorem=ORDERS.id,
        trust="local" if problem.server == "untrusted" else "central",
        problem="population",
        scale=largest_excess * order_scale(orders),
        terms=terms,
        conditions=condition_answers(conditions),
    )


def _target_epsilon(problem: Mu2SgdRiskProblem) -> float:
    """Return the ε of the target for the lower bound.

    Args:
        problem: the request. Its target is a pair (ε, δ), or a risk such as the Gaussian DP parameter μ.

    Returns:
        The requested ε. For a risk, it is the exact ε of the Gaussian mechanism with this risk at the target δ. If that
        is 0, infinity is returned, which removes the privacy term from the lower bound.
    """
    if problem.epsilon is not None:
        return problem.epsilon
    assert problem.risk is not None  # a valid request has ε or a risk
    log_delta = problem.target.log_delta
    epsilon = epsilons(mu=problem.risk.gaussian_mu, log_delta=log_delta)["exact_epsilon"]
    return epsilon if epsilon > 0.0 else math.inf


RISK = GivenNoiseRiskPart(
    title="Excess risk of federated learning with noise cancellation",
    summary=(
        "An upper bound with explicit constants at the run's noise and step size, for an untrusted or a trusted "
        "server. The order of the lower bound is given for comparison (Reshef and Levy, Theorems 5.2 and F.2)."
    ),
    problem=Mu2SgdRiskProblem,
    theorems=(CERTIFIED.id, TRUSTED_RUN.id),
    lower_theorems=(ORDERS.id,),
    example_fields={"noise_std": 50.0},
    quick=lambda problem: problem.noise_std is not None and problem.has_known_step,
    given_run=given_run,
    certified_run=run_at_certified_noise,
    bounds=bounds,
)
